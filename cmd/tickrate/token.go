package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/tickrate/tickrate/server/httpapi"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// tokenFlags are the flags of token.
type tokenFlags struct {
	key              keyFlags
	servers          []string
	clientID         uint64
	protocol         protocolID
	seconds, timeout int
	userData, out    string
	spectate         bool
	idChosen         bool
}

func newToken() *cobra.Command {
	f := tokenFlags{protocol: defaultProtocol}
	c := &cobra.Command{
		Use:   "token",
		Short: "Make a connect token for one player",
		Long: `token makes a netcode 1.02 connect token, as a matchmaker does: with it one client can begin one session on a server that has
the same private key. The token goes to standard output in base64, or to a file as 2048 bytes. A token is a secret of its
player: it holds the keys of the session.

Where serve has an HTTP port, POST /v1/connect gives the same.`,
		Example: `  tickrate token --server 203.0.113.5:7913 --client-id 42
  tickrate token --key-file tickrate.key --seconds 60 --out player.token`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.idChosen = c.Flags().Changed("client-id")
			return token(c, f)
		},
	}
	f.key.register(c, "that of the server")
	fl := c.Flags()
	fl.StringArrayVar(&f.servers, "server", []string{"127.0.0.1:7913"}, "`host:port` to dial, as the server's --public-addr has it; more than one in the order they are tried")
	fl.Uint64Var(&f.clientID, "client-id", 0, "`number` of the player, of 64 bits; default at random")
	fl.Var(&f.protocol, "protocol-id", protocolUsage)
	fl.IntVar(&f.seconds, "seconds", int(httpapi.DefaultTokenLifetime/time.Second), "`seconds` in which the client must be in, 1 to 86400")
	fl.IntVar(&f.timeout, "timeout-seconds", int(httpapi.DefaultSessionTimeout/time.Second), "`seconds` of silence that end the session, 1 to 86400; -1 never")
	fl.StringVar(&f.userData, "user-data-hex", "", "up to 256 bytes for the server, as hexadecimal `digits`; default none")
	fl.BoolVar(&f.spectate, "spectate", false, "for somebody who only looks on, where the server has places for that (--spectators)")
	fl.StringVar(&f.out, "out", "", "`file` for the 2048 bytes; default base64 to standard output")
	return c
}

func token(c *cobra.Command, f tokenFlags) error {
	if err := f.key.check(c); err != nil {
		return err
	}
	if err := checkLives("--seconds", f.seconds, "--timeout-seconds", f.timeout); err != nil {
		return err
	}
	m := netcode.Mint{ProtocolID: uint64(f.protocol), TimeoutSeconds: int32(f.timeout)}
	data, err := hex.DecodeString(f.userData)
	if err != nil || len(data) > netcode.UserDataSize {
		return usage.Errorf("--user-data-hex: expected an even number of hexadecimal digits, at most %d", 2*netcode.UserDataSize)
	}
	copy(m.UserData[:], data)
	if f.spectate {
		protocol.MarkSpectator(m.UserData[:])
	}
	if m.Servers, err = publicAddrs("--server", f.servers); err != nil {
		return err
	}
	if m.ClientID = f.clientID; !f.idChosen {
		m.ClientID = randomID()
	}
	key, err := f.key.read(false, c.ErrOrStderr())
	if err != nil {
		return err
	}
	raw, err := mintNow(&m, &key, f.seconds)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("client %d, server %s, to be used within %d s", m.ClientID, join(m.Servers), f.seconds)
	if f.out == "" {
		fmt.Fprintln(c.ErrOrStderr(), about)
		fmt.Fprintln(c.OutOrStdout(), base64.StdEncoding.EncodeToString(raw))
		return nil
	}
	if err := writeSecret(f.out, raw, os.Rename); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", f.out, about)
	return nil
}

// checkLives checks how long tokens and silent sessions live.
func checkLives(flag string, seconds int, timeoutFlag string, timeout int) error {
	const day = 86400
	if seconds < 1 || seconds > day {
		return usage.Errorf("%s %d: expected 1 to %d", flag, seconds, day)
	}
	if timeout != -1 && (timeout < 1 || timeout > day) {
		return usage.Errorf("%s %d: expected 1 to %d, or -1 for never", timeoutFlag, timeout, day)
	}
	return nil
}

// mintNow makes a token that lives from now on.
func mintNow(m *netcode.Mint, key *netcode.Key, seconds int) ([]byte, error) {
	m.Create = uint64(time.Now().Unix())
	m.Expire = m.Create + uint64(seconds)
	return m.Append(nil, key, rand.Reader)
}

func randomID() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // does not fail: it stops the program
	return binary.LittleEndian.Uint64(b[:])
}

func join(list []netip.AddrPort) string {
	var text []string
	for _, a := range list {
		text = append(text, a.String())
	}
	return strings.Join(text, ", ")
}

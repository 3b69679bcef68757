// The command token: mints one connect token, as a matchmaker's backend does. The private key and
// flags go in; 2048 bytes or their base64 come out.

package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// tokenFlags are the flags of token.
type tokenFlags struct {
	key      keyFlags
	servers  []string // host:port, in the order in which the client tries them
	clientID uint64
	idChosen bool // clientID was given; otherwise it is random
	protocol protocolID
	lifetime time.Duration // in which the token must be used
	timeout  time.Duration // silence that ends the session, -1s for never
	userData string        // hexadecimal, at most 256 bytes
	spectate bool          // token of a spectator
	lobby    int64         // -1: any
	out      string        // file; "" for base64 on standard output
}

// newToken returns the command that makes connect tokens.
func newToken() *cobra.Command {
	f := tokenFlags{protocol: defaultProtocol}
	c := &cobra.Command{
		Use:   "token",
		Short: "Make a connect token for one player",
		Long: `token makes a netcode 1.02 connect token, as a matchmaker does: with it one
client can begin one session on a server that has the same private key. The
token goes to standard output in base64, or to a file as 2048 bytes. A token is
a secret of its player: it holds the keys of the session.

Where serve has an HTTP port, POST /v1/connect gives the same.`,
		Example: `  tickrate token --server 203.0.113.5:7913 --client-id 42
  tickrate token --key-file tickrate.key --lifetime 60s --out player.token`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.idChosen = c.Flags().Changed("client-id")
			return token(c, f)
		},
	}
	f.key.register(c, "that of the server")
	fl := c.Flags()
	fl.StringArrayVar(&f.servers, "server", []string{"127.0.0.1:7913"},
		"`host:port` to dial, as the server's --public-addr has it; more than one in the order they are "+
			"tried")
	fl.Uint64Var(&f.clientID, "client-id", 0, "`number` of the player, of 64 bits; default at random")
	fl.Var(&f.protocol, "protocol-id", protocolUsage)
	fl.DurationVar(&f.lifetime, "lifetime", httpapi.DefaultTokenLifetime,
		"`time` in which the token must be used, 1s to 24h")
	fl.DurationVar(&f.timeout, "session-timeout", httpapi.DefaultSessionTimeout,
		"silent `time` that ends the session, 1s to 24h; -1s for never")
	fl.StringVar(&f.userData, "user-data-hex", "", "up to 256 bytes for the server, as hexadecimal "+
		"`digits`; default none")
	fl.BoolVar(&f.spectate, "spectate", false, "token of a spectator, which the server "+
		"admits if it has spectator slots (serve --spectators)")
	fl.Int64Var(&f.lobby, "lobby", -1,
		"`number` of the lobby at a server of several; -1 lets the server choose")
	fl.StringVar(&f.out, "out", "", "`file` for the 2048 bytes; default base64 to standard output")
	return c
}

// token mints a connect token from f and writes it: to a file that only its owner can read, or as
// base64 to standard output with a description on standard error.
func token(c *cobra.Command, f tokenFlags) error {
	if err := f.key.check(c); err != nil {
		return err
	}
	if err := checkLifetimes("--lifetime", f.lifetime, f.timeout); err != nil {
		return err
	}
	m := netcode.Mint{ProtocolID: uint64(f.protocol), TimeoutSeconds: httpapi.TimeoutSeconds(f.timeout)}
	data, err := hex.DecodeString(f.userData)
	if err != nil || len(data) > netcode.UserDataSize {
		return usage.Errorf("--user-data-hex: expected an even number of hexadecimal digits, at "+
			"most %d", 2*netcode.UserDataSize)
	}
	copy(m.UserData[:], data) // sealed: only the server reads it
	if f.spectate {
		protocol.MarkSpectator(m.UserData[:])
	}
	if f.lobby < -1 || f.lobby > math.MaxUint32 {
		return usage.Errorf("--lobby %d: expected a number of a lobby, or -1 for any", f.lobby)
	} else if f.lobby >= 0 {
		protocol.LobbyRef{Lobby: uint32(f.lobby)}.Mark(m.UserData[:])
	}
	if m.Servers, err = publicAddrs("--server", f.servers); err != nil {
		return err
	}
	if m.ClientID = f.clientID; !f.idChosen {
		m.ClientID = randomID()
	}
	key, err := f.key.read(failWithoutKey, c.ErrOrStderr())
	if err != nil {
		return err
	}
	raw, err := mintNow(&m, &key, f.lifetime)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("client %d, server %s, to be used within %v", m.ClientID, join(m.Servers),
		f.lifetime)
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

// checkLifetimes checks a token's lifetime, which comes from flag, and --session-timeout. Tokens
// hold whole seconds. Its errors are errors of use.
func checkLifetimes(flag string, lifetime, timeout time.Duration) error {
	const day = 24 * time.Hour
	whole := func(d time.Duration) bool { return d >= time.Second && d <= day && d%time.Second == 0 }
	if !whole(lifetime) {
		return usage.Errorf("%s %v: expected whole seconds from 1s to 24h", flag, lifetime)
	}
	if timeout != -time.Second && !whole(timeout) {
		return usage.Errorf("--session-timeout %v: expected whole seconds from 1s to 24h, or -1s "+
			"for never", timeout)
	}
	return nil
}

// mintNow returns a token that is valid from now on, for its lifetime. It sets the times in m.
func mintNow(m *netcode.Mint, key *netcode.Key, lifetime time.Duration) ([]byte, error) {
	m.Create = uint64(time.Now().Unix())
	m.Expire = m.Create + uint64(lifetime/time.Second)
	return m.Append(nil, key, rand.Reader)
}

// randomID returns a random client id, of 64 bits.
func randomID() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program
	return binary.LittleEndian.Uint64(b[:])
}

// join formats addresses, separated by commas.
func join(list []netip.AddrPort) string {
	var text []string
	for _, a := range list {
		text = append(text, a.String())
	}
	return strings.Join(text, ", ")
}

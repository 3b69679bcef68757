package main

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"

	"github.com/tickrate/tickrate/cmd/internal/usage"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// swarmTokens is where the tokens of a swarm come from.
type swarmTokens struct {
	servers   []string
	http      []string
	httpToken string
	key       keyFlags
	protocol  protocolID
}

// register adds the flags of the tokens' source to c.
func (f *swarmTokens) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.servers, "server", nil,
		"UDP `host:port` of the lobby; default what tokens say, or 127.0.0.1:7913 if the swarm makes "+
			"them; may be repeated: player n plays on lobby n modulo their count")
	fl.StringArrayVar(&f.http, "http", []string{"127.0.0.1:7914"},
		"HTTP `host:port` of the server, which gives tokens; may be repeated likewise")
	fl.StringVar(&f.httpToken, "http-token", "",
		"the server's `secret` for tokens; also "+serverapi.TokenVariable)
	f.key.register(c, "as the server has it, to make tokens here")
	fl.Var(&f.protocol, "protocol-id", protocolUsage+", of tokens made here")
}

// sources decides where tokens come from, one source for each lobby.
func (f *swarmTokens) sources(c *cobra.Command, spectators bool) (all []*tokenSource, err error) {
	if err := f.key.check(c); err != nil {
		return nil, err
	}
	asked := c.Flags().Changed("http")
	if asked && (f.key.fileSet || f.key.hexSet) {
		return nil, usage.Error(errors.New("--http and a private key: tokens come from one of them"))
	}
	secret, err := httpSecret(f.httpToken)
	if err != nil {
		return nil, err
	}
	var named []netip.AddrPort // of the lobbies: through a proxy, say
	for _, one := range f.servers {
		at, err := publicAddrs("--server", []string{one})
		if err != nil {
			return nil, err
		}
		named = append(named, at...)
	}
	if f.key.given() && !asked {
		return f.minted(c, named, spectators)
	}
	if len(named) > 0 && len(named) != len(f.http) {
		return nil,
			usage.Errorf("--server %d times and --http %d times: expected one of each for each lobby",
				len(named), len(f.http))
	}
	for i, addr := range f.http {
		t, err := requestTokens(c.Context(), addr, secret, spectators)
		if err != nil {
			return nil, err
		}
		if len(named) > 0 {
			t.at = named[i]
		}
		all = append(all, t)
	}
	return all, nil
}

// minted are sources of tokens made here.
func (f *swarmTokens) minted(c *cobra.Command, named []netip.AddrPort,
	spectators bool) (all []*tokenSource, err error) {
	key, err := f.key.read(false, c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if named == nil {
		named = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7913")}
	}
	for _, at := range named {
		mint := netcode.Mint{
			ProtocolID:     uint64(f.protocol),
			TimeoutSeconds: httpapi.TimeoutSeconds(httpapi.DefaultSessionTimeout),
			Servers:        []netip.AddrPort{at},
		}
		t, err := mintTokens(key, marked(mint, spectators))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// mixedTokens are tokens of a swarm: the first players play, the others spectate, each from sources
// of their own. Client n goes to lobby n modulo their count.
func mixedTokens(players int, play, spectate []*tokenSource) func(n int) ([]byte, error) {
	return func(n int) ([]byte, error) {
		if n < players {
			return play[n%len(play)].Token(n)
		}
		raw, err := spectate[n%len(spectate)].Token(n)
		if err != nil {
			return nil, fmt.Errorf("spectator: %w", err)
		}
		return raw, nil
	}
}

// allTokens are the tokens of the players, and after them of the spectators.
func (f *swarmFlags) allTokens(c *cobra.Command, play []*tokenSource) (func(n int) ([]byte, error), error) {
	if f.play.spectators == 0 {
		return mixedTokens(f.play.players, play, nil), nil
	}
	spectate, err := f.tokens.sources(c, true)
	if err != nil {
		return nil, err
	}
	return mixedTokens(f.play.players, play, spectate), nil
}

// marked is m, for a spectator if so.
func marked(m netcode.Mint, spectator bool) netcode.Mint {
	if spectator {
		protocol.MarkSpectator(m.UserData[:])
	}
	return m
}

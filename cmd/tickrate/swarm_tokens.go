// Where the connect tokens of a swarm come from: the HTTP ports of servers, or the servers' private
// key.

package main

import (
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/director"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// swarmTokens are the flags that say where the tokens of a swarm come from.
type swarmTokens struct {
	servers   []string   // UDP host:port of each lobby; none for the addresses in the tokens
	http      []string   // HTTP host:port of each lobby
	httpToken string     // secret of the HTTP ports
	key       keyFlags   // of all lobbies, to make tokens here
	protocol  protocolID // of tokens made here
	lobby     int64      // that tokens name; -1: none
	nearest   bool       // tokens name several servers
	match     matchRequest
}

// role is what a token admits its client as.
type role bool

const (
	asPlayer    role = false
	asSpectator role = true
)

// register adds the flags of the tokens' source to c.
func (f *swarmTokens) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.servers, "server", nil,
		"UDP `host:port` of the lobby; default what tokens say, or 127.0.0.1:7913 if the swarm makes "+
			"them; may be repeated: player n plays on lobby n modulo their count")
	fl.StringArrayVar(&f.http, "http", []string{"127.0.0.1:7914"},
		"HTTP `host:port` of the server, which gives tokens; may be repeated, one for each lobby")
	fl.StringVar(&f.httpToken, "http-token", "",
		"the server's `secret` for tokens; also "+serverapi.TokenVariable)
	fl.Int64Var(&f.lobby, "lobby", -1,
		"`number` of the lobby at a server of several; -1 lets the server choose")
	fl.BoolVar(&f.nearest, "nearest", false, "each token names all of --server, or with --http what the server "+
		"says, and each player joins the nearest of them by three pings")
	f.match.register(fl)
	f.key.register(c, "as the server has it, to make tokens here")
	fl.Var(&f.protocol, "protocol-id", protocolUsage+", of tokens made here")
}

// sources returns a source of tokens for each lobby. A private key is used unless --http was given.
// Each source has its first token already, which tells the address of the lobby.
func (f *swarmTokens) sources(c *cobra.Command, as role) (all []*tokenSource, err error) {
	if f.lobby < -1 || f.lobby > math.MaxUint32 {
		return nil, usage.Errorf("--lobby %d: expected a number of a lobby, or -1 for any", f.lobby)
	}
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
	if f.match.director != "" {
		f.match.secret = secret
		return f.matched(c, as)
	}
	var named []netip.AddrPort // of the lobbies in place of those in tokens, such as a proxy's
	for _, one := range f.servers {
		at, err := publicAddrs("--server", []string{one})
		if err != nil {
			return nil, err
		}
		named = append(named, at...)
	}
	if f.key.given() && !asked {
		return f.minted(c, named, as)
	}
	if f.nearest && (len(named) > 0 || len(f.http) > 1) {
		return nil, usage.Errorf("--nearest: expected one value of --http without --server, or values of --server " +
			"and the key")
	}
	if len(named) > 0 && len(named) != len(f.http) {
		return nil, usage.Errorf("%s of --server and %s of --http: expected one of each for each lobby",
			several(len(named), "value"), several(len(f.http), "value"))
	}
	for i, addr := range f.http {
		t, err := requestTokens(c.Context(), tokenRequest{addr, secret, as, f.lobby})
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

// matched returns the source of a director's tokens.
func (f *swarmTokens) matched(c *cobra.Command, as role) ([]*tokenSource, error) {
	switch {
	case len(f.servers) > 0 || c.Flags().Changed("http") || f.key.fileSet || f.key.hexSet || f.lobby >= 0 || f.nearest ||
		as == asSpectator:
		return nil, usage.Errorf("--director: expected no --server, --http, --lobby, --nearest, --spectators and key")
	case f.match.hosts < 1 || f.match.hosts > director.MaxHosts:
		return nil, usage.Errorf("--hosts %d: expected 1 to %d", f.match.hosts, director.MaxHosts)
	}
	t, err := matchTokens(c.Context(), f.match)
	if err != nil {
		return nil, err
	}
	return []*tokenSource{t}, nil
}

// minted returns sources that make tokens with the servers' key, one for each address; none for the
// default port on this machine.
func (f *swarmTokens) minted(c *cobra.Command, named []netip.AddrPort, as role) ([]*tokenSource, error) {
	key, err := f.key.read(failWithoutKey, c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if named == nil {
		named = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7913")}
	}
	each := [][]netip.AddrPort{named} // of each source
	if !f.nearest {
		each = nil
		for _, at := range named {
			each = append(each, []netip.AddrPort{at})
		}
	}
	var all []*tokenSource
	for _, servers := range each {
		mint := netcode.Mint{
			ProtocolID:     uint64(f.protocol),
			TimeoutSeconds: httpapi.TimeoutSeconds(httpapi.DefaultSessionTimeout),
			Servers:        servers,
		}
		if as == asSpectator {
			protocol.MarkSpectator(mint.UserData[:])
		}
		if f.lobby >= 0 {
			protocol.LobbyRef{Lobby: uint32(f.lobby)}.Mark(mint.UserData[:])
		}
		t, err := mintTokens(key, mint)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// mixedTokens returns the function that gives client n its token: the first players play, the
// others spectate, from sources of their own. Client n joins lobby n modulo the number of lobbies.
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

// allTokens returns the tokens of the players, and after them of the spectators. It asks for the
// spectators' sources if there are any.
func (f *swarmFlags) allTokens(c *cobra.Command, play []*tokenSource) (func(n int) ([]byte, error), error) {
	if f.play.spectators == 0 {
		return mixedTokens(f.play.players, play, nil), nil
	}
	spectate, err := f.tokens.sources(c, asSpectator)
	if err != nil {
		return nil, err
	}
	return mixedTokens(f.play.players, play, spectate), nil
}

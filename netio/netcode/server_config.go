package netcode

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// ServerConfig of a Server.
type ServerConfig struct {
	PrivateKey Key
	ProtocolID uint64
	Addresses  []netip.AddrPort // as tokens name this server: its public addresses, never 0.0.0.0
	Entropy    [32]byte         // random, secret, new at every start: all the server's randomness comes from it

	Clients       int // slots, up to MaxClients; 0: 256
	MaxHandshakes int // handshakes at a time; 0: four a slot
	MaxTokens     int // tokens remembered until they expire: joins a second times lifetime; 0: eight a slot, at least 16,384

	// A token is good for one session, also when a server is killed and starts again, if the server either keeps a journal or
	// refuses all tokens of before its start.
	//
	// Journal is the server's while it lives, and of one server at a time: at least Tokens records of JournalRecord bytes, in
	// memory that the next start is given again, such as a mapped file. The server reads it once, in NewServer, and from then on
	// writes 32 bytes for each session, with no system call. It refuses tokens while all records are of tokens that have not expired.
	//
	// With TokenLifetime set, tokens issued before or in the second of Started are refused, and tokens that live longer than that.
	// All tokens must then be minted with Expire - Create = TokenLifetime. A token of a backend whose clock is ahead is refused until
	// ours shows the same; its client goes on asking.
	Journal       []byte        // nil: none
	TokenLifetime time.Duration // whole seconds; 0: take tokens of any age
	StartUnix     int64         // Unix seconds; needed with a journal or a lifetime

	HandshakesPerSecond  int  // tokens opened for strangers; 0: 20,000. Half of it may come at once
	HandshakesPerNetwork int  // of these, from one /24 or /48, all of which may come at once; 0: a quarter
	PacketsPerSecond     int  // a session may send, 64 more at once; 0: no limit
	AllowTestKey         bool // take a PrivateKey that everybody knows, for tests
}

var (
	errPublicKey = errors.New("netcode: refusing the well-known test key or a key of zeros")
	errEntropy   = errors.New("netcode: server without entropy")
	errAddresses = fmt.Errorf("netcode: server needs 1 to %d valid public addresses", MaxServers)
)

// withDefaults checks the configuration and fills in what was left open.
func (c ServerConfig) withDefaults() (ServerConfig, error) {
	c.Clients = or(c.Clients, 256)
	c.MaxHandshakes = or(c.MaxHandshakes, 4*c.Clients)
	c.MaxTokens = or(c.MaxTokens, max(8*c.Clients, 16_384))
	c.HandshakesPerSecond = or(c.HandshakesPerSecond, 20_000)
	c.HandshakesPerNetwork = or(c.HandshakesPerNetwork, max(1, c.HandshakesPerSecond/4))
	switch {
	case c.PrivateKey.IsTestKey() && !c.AllowTestKey:
		return c, errPublicKey
	case c.Entropy == [32]byte{}:
		return c, errEntropy
	case !validServers(c.Addresses):
		return c, errAddresses
	case c.Clients < 1 || c.Clients > MaxClients:
		return c, fmt.Errorf("netcode: %d clients: 1 to %d allowed", c.Clients, MaxClients)
	case c.MaxHandshakes < 1 || c.MaxTokens < 1 || c.HandshakesPerSecond < 2 || c.HandshakesPerNetwork < 1 || c.PacketsPerSecond < 0:
		return c, fmt.Errorf("netcode: a limit that lets nobody in")
	case c.StartUnix <= 0 && c.Journal != nil:
		return c, fmt.Errorf("netcode: a journal needs the time of the start")
	case c.TokenLifetime < 0 || c.TokenLifetime%time.Second != 0:
		return c, fmt.Errorf("netcode: token lifetime of %v: whole seconds needed", c.TokenLifetime)
	case c.Journal != nil:
		return c, checkJournal(c.Journal, c.MaxTokens)
	}
	return c, nil
}

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

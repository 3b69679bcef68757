package netcode

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// ServerConfig configures a Server.
type ServerConfig struct {
	PrivateKey Key
	ProtocolID uint64
	// Addresses are the public addresses of this server, as tokens name it and clients dial it: never
	// 0.0.0.0, [::] or port 0.
	Addresses []netip.AddrPort
	Entropy   [32]byte // random, secret and new at every start: the seed of all randomness

	Clients       int // slots, up to MaxClients; 0: 256
	MaxHandshakes int // handshakes at a time; 0: four a slot
	// tokens remembered until they expire: joins a second times lifetime; 0: eight a slot, at
	// least 16,384
	MaxTokens int

	// A token is good for one session, also when the server is killed and starts again: a second
	// session would seal the first sequences again under the same keys. So a server needs one of
	// Journal and TokenLifetime.
	//
	// Journal is memory that the next start is given again, such as a mapped file: at least
	// MaxTokens records of JournalRecord bytes, used by one server at a time. NewServer reads it;
	// after that the server writes 32 bytes for each session, with no system call. It refuses
	// tokens while all records are of tokens that have not expired.
	//
	// TokenLifetime makes the server refuse tokens that were issued before or in the second of
	// StartUnix, and tokens that live longer. All tokens must then be minted with Expire - Create
	// = TokenLifetime. The server refuses a token of a backend whose clock is ahead until its own
	// clock shows the same; the client keeps asking.
	Journal         []byte        // nil: none
	TokenLifetime   time.Duration // whole seconds; 0: tokens of any age
	StartUnix       int64         // Unix seconds; no earlier process uses tokens after it
	AllowTokenReuse bool          // for tests: a restarted server takes used tokens again

	// Tokens is the table of used tokens that this server shares with others, see NewUsedTokens. nil:
	// one of its own.
	Tokens *UsedTokens
	Group  Group // of servers that share sessions' addresses; the zero value is a server alone

	HandshakesPerSecond  int  // requests whose token is opened; half of it at once; 0: 20,000
	HandshakesPerNetwork int  // of these, from one /24 or /48, all at once; 0: a quarter
	PacketsPerSecond     int  // datagrams that a session may send, 64 more at once; 0: no limit
	AllowTestKey         bool // accept a published PrivateKey, for tests
}

var (
	errPublicKey  = errors.New("netcode: refusing the well-known test key or a key of zeros")
	errEntropy    = errors.New("netcode: server without entropy")
	errTokenReuse = errors.New("netcode: server needs a Journal or a TokenLifetime against reused tokens")
)

// withDefaults checks the configuration and fills in defaults.
func (c ServerConfig) withDefaults() (ServerConfig, error) {
	c.Clients = or(c.Clients, 256)
	c.MaxHandshakes = or(c.MaxHandshakes, 4*c.Clients)
	c.MaxTokens = or(c.MaxTokens, max(8*c.Clients, 16_384))
	c.HandshakesPerSecond = or(c.HandshakesPerSecond, 20_000)
	c.HandshakesPerNetwork = or(c.HandshakesPerNetwork, max(1, c.HandshakesPerSecond/4))
	badAddress := checkServers(c.Addresses)
	switch {
	case c.PrivateKey.IsTestKey() && !c.AllowTestKey:
		return c, errPublicKey
	case c.Entropy == [32]byte{}:
		return c, errEntropy
	case badAddress != nil:
		return c, fmt.Errorf("netcode: server's public addresses: %w", badAddress)
	case c.Clients < 1 || c.Clients > MaxClients:
		return c, fmt.Errorf("netcode: %d clients: 1 to %d allowed", c.Clients, MaxClients)
	case c.MaxHandshakes < 1 || c.MaxTokens < 1 || c.HandshakesPerSecond < 2 ||
		c.HandshakesPerNetwork < 1 || c.PacketsPerSecond < 0:
		return c, fmt.Errorf("netcode: MaxHandshakes, MaxTokens and Handshakes limits must be positive")
	case c.Journal == nil && c.TokenLifetime == 0 && !c.AllowTokenReuse:
		return c, errTokenReuse
	case c.StartUnix <= 0 && (c.Journal != nil || c.TokenLifetime != 0):
		return c, errors.New("netcode: server needs StartUnix with a Journal or a TokenLifetime")
	case c.TokenLifetime < 0 || c.TokenLifetime%time.Second != 0:
		return c, fmt.Errorf("netcode: token lifetime of %v: whole seconds needed", c.TokenLifetime)
	case c.Group.Index != nil && (c.Tokens == nil || c.Group.Member < 0 || c.Group.Member >= MaxMembers):
		return c, fmt.Errorf("netcode: member %d of a group: expected 0 to %d, and Tokens that all share",
			c.Group.Member, MaxMembers-1)
	case c.Journal != nil:
		return c, checkJournal(c.Journal, c.MaxTokens)
	}
	return c, nil
}

// memberEntropy is the seed of a server's own randomness. What the members of a group seal with the
// keys of one token must not begin with the same sequence.
func (c *ServerConfig) memberEntropy() [32]byte {
	e := c.Entropy
	if c.Group.Index != nil {
		e[31] ^= byte(c.Group.Member + 1)
	}
	return e
}

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

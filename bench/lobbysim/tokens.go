package lobbysim

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// epoch is the wall clock at the virtual time 0, in seconds.
const epoch = 1_800_000_000

// timeoutSeconds of silence end a session.
const timeoutSeconds = 10

// tokenMint makes connect tokens from the seed.
type tokenMint struct {
	key      netcode.Key
	protocol uint64
	random   io.Reader
}

// newMint takes the key of a configuration, or sets one, and sets what else the netcode server
// needs.
func newMint(cfg *Config) tokenMint {
	var seed [32]byte
	copy(seed[:], "tokens of a lobby in a box") // the number below replaces the bytes from 24 on
	binary.LittleEndian.PutUint64(seed[24:], cfg.Seed)
	random := rand.NewChaCha8(seed)
	g := &cfg.Lobby.Netcode
	if g.PrivateKey == (netcode.Key{}) {
		_, _ = random.Read(g.PrivateKey[:]) // never fails
	}
	if g.Entropy == [32]byte{} {
		_, _ = random.Read(g.Entropy[:])
	}
	if g.ProtocolID == 0 {
		g.ProtocolID = protocol.ProtocolID
	}
	g.Addresses = []netip.AddrPort{serverAddr}
	g.AllowTokenReuse = g.Journal == nil // nothing outlives the simulation
	return tokenMint{g.PrivateKey, g.ProtocolID, random}
}

// token makes a player's token for a client id. It is valid for 45 s from unix on.
func (m *tokenMint) token(client uint64, unix int64) ([]byte, error) {
	t := m.unsealed(client, unix)
	return m.seal(&t)
}

// seal makes a token of its contents.
func (m *tokenMint) seal(t *netcode.Mint) ([]byte, error) { return t.Append(nil, &m.key, m.random) }

// unsealed returns the contents of a token.
func (m *tokenMint) unsealed(client uint64, unix int64) netcode.Mint {
	return netcode.Mint{
		ProtocolID: m.protocol, ClientID: client, Create: uint64(unix), Expire: uint64(unix) + 45,
		TimeoutSeconds: timeoutSeconds, Servers: []netip.AddrPort{serverAddr},
	}
}

// unix is the server's wall clock, in seconds.
func (b *Sim) unix() int64 {
	if b.cfg.WallClock != nil {
		return b.cfg.WallClock(b.now)
	}
	return epoch + int64(b.now/time.Second)
}

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

// mint makes tokens from the seed.
type mint struct {
	key      netcode.Key
	protocol uint64
	random   io.Reader
}

// newMint takes the key of a configuration, or gives it one, and all else that a gate needs.
func newMint(cfg *Config) mint {
	var seed [32]byte
	copy(seed[:], "tokens of a lobby in a bottle")
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
	g.Addresses = []netip.AddrPort{home}
	g.AllowTokenReuse = g.Journal == nil // nothing outlives the simulation
	return mint{g.PrivateKey, g.ProtocolID, random}
}

// token makes a token for a client id.
func (m *mint) token(client uint64, unix int64) ([]byte, error) { return m.admit(client, unix, false) }

// admit makes a token for a client id who plays, or looks on.
func (m *mint) admit(client uint64, unix int64, looksOn bool) ([]byte, error) {
	t := netcode.Mint{ProtocolID: m.protocol, ClientID: client, Create: uint64(unix), Expire: uint64(unix) + 45,
		TimeoutSeconds: timeoutSeconds, Servers: []netip.AddrPort{home}}
	if looksOn {
		protocol.MarkSpectator(t.UserData[:])
	}
	return t.Append(nil, &m.key, m.random)
}

// unix is the wall clock.
func (b *Sim) unix() int64 {
	if b.cfg.Wall != nil {
		return b.cfg.Wall(b.now)
	}
	return epoch + int64(b.now/time.Second)
}

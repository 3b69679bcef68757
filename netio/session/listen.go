package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// tokenLifetime is how long a token is good, unless the configuration says another time.
const tokenLifetime = 45 * time.Second

// Listener is a netcode.Server on a UDP socket.
type Listener struct {
	Netcode *netcode.Server // its sessions; the Listener receives and sends for it
	*socket
	cfg netcode.ServerConfig
}

// Listen binds a UDP address and starts a server without clients. Of the configuration it fills in
// what is missing: the bound address as the public one, unless it stands for every address of the
// machine; a new private key; entropy; tokens that live for 45 seconds.
func Listen(address string, cfg netcode.ServerConfig) (*Listener, error) {
	s, err := open(address)
	if err != nil {
		return nil, err
	}
	if len(cfg.Addresses) == 0 {
		cfg.Addresses = []netip.AddrPort{s.LocalAddr()}
	}
	if cfg.StartUnix == 0 {
		cfg.StartUnix = time.Now().Unix()
	}
	if cfg.PrivateKey == (netcode.Key{}) {
		_, _ = rand.Read(cfg.PrivateKey[:]) // never fails
		cfg.StartUnix--                     // no token of an earlier start has this key
	}
	if cfg.Entropy == [32]byte{} {
		_, _ = rand.Read(cfg.Entropy[:])
	}
	if cfg.TokenLifetime == 0 && !cfg.AllowTokenReuse {
		cfg.TokenLifetime = tokenLifetime
	}
	l := &Listener{socket: s, cfg: cfg}
	if l.Netcode, err = netcode.NewServer(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("session: listen on %q: %w", address, err), s.conn.Close())
	}
	return l, nil
}

// Token mints a connect token for a client. Everything secret of the session is in it: it travels
// over TLS, or not at all.
func (l *Listener) Token(clientID uint64) ([]byte, error) {
	lifetime := l.cfg.TokenLifetime
	if lifetime == 0 {
		lifetime = tokenLifetime
	}
	create := uint64(max(time.Now().Unix(), l.cfg.StartUnix+1))
	mint := netcode.Mint{ProtocolID: l.cfg.ProtocolID, ClientID: clientID, Create: create,
		Expire: create + uint64(lifetime/time.Second), TimeoutSeconds: 10, Servers: l.cfg.Addresses}
	return mint.Append(nil, &l.cfg.PrivateKey, rand.Reader)
}

// Poll takes what has arrived and what time has brought, and calls each for what it means: clients that
// came and left, and their payloads, which are valid until each returns. It never waits. An error means
// that the socket is unusable.
func (l *Listener) Poll(each func(netcode.Event)) error {
	now, unix := l.Now(), time.Now().Unix()
	err := l.receive(func(d netio.Datagram) {
		e, drop := l.Netcode.Receive(now, unix, d.Addr, d.Data, &l.queue)
		if drop == nil && e.Kind != netcode.EventNone {
			each(e)
		}
	})
	for _, e := range l.Netcode.Update(now, unix, &l.queue) {
		each(e)
	}
	return err
}

// Send queues a payload for a client, 1 to netcode.MaxPayload bytes. Flush sends it.
func (l *Listener) Send(client int, payload []byte) error {
	return l.Netcode.Send(l.Now(), client, payload, &l.queue)
}

// Close ends all sessions, tells the clients and releases the port.
func (l *Listener) Close() error {
	l.Netcode.Close(l.Now(), &l.queue)
	return l.close()
}

// Package director finds places for players in the lobbies of a fleet.
//
// Announcements of hosts go in over NATS, and requests for places over HTTP; connect tokens for the
// fullest room that holds the service level come out, or for such a room on each of several hosts.
// Reservations live in JetStream, written by compare-and-set: directors may be several, and any may
// die. The command fleet director uses it.
package director

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// Config describes a Director. Zero fields mean the defaults named.
type Config struct {
	Bus        *bus.Bus     // the caller closes it
	Key        announce.Key // of the fleet's messages
	Netcode    netcode.Key  // private key that all hosts of the fleet have
	ProtocolID uint64       // that they accept; default protocol.ProtocolID

	MaxBusy float64       // share of a processor from which a host gets no more players; default 0.75
	MaxTick time.Duration // of a host's ticks, likewise; default 8 ms

	TokenLifetime  time.Duration // in whole seconds; default httpapi.DefaultTokenLifetime
	SessionTimeout time.Duration // as ConnectConfig.SessionTimeout
	Allocator      *Allocator    // asked in place of the hosts that announce; default none
	Log            *slog.Logger
	Now            func() time.Time // default time.Now
}

// Director finds rooms. All methods may be called from any goroutine.
type Director struct {
	cfg   Config
	store store

	placing sync.Mutex // held while a reservation is written; taken before mu

	mu     sync.Mutex // guards the fields below
	index  *index
	intake *intake
	making map[place]chan struct{} // closed when the lobby is made, or is not

	matched, failed, made, conflicts, lost meter.Counter

	sub   *nats.Subscription
	watch jetstream.KeyWatcher
	done  sync.WaitGroup
	stop  chan struct{}
}

// every is how often leases are looked at.
const every = 500 * time.Millisecond

// New begins to listen to hosts. The caller must call Close.
func New(ctx context.Context, cfg Config) (d *Director, err error) {
	cfg.ProtocolID = cmp.Or(cfg.ProtocolID, protocol.ProtocolID)
	cfg.MaxBusy = cmp.Or(cfg.MaxBusy, 0.75)
	cfg.MaxTick = cmp.Or(cfg.MaxTick, 8*time.Millisecond)
	cfg.TokenLifetime = cmp.Or(cfg.TokenLifetime, httpapi.DefaultTokenLifetime)
	cfg.SessionTimeout = cmp.Or(cfg.SessionTimeout, httpapi.DefaultSessionTimeout)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d = &Director{cfg: cfg, intake: newIntake(cfg.Key), making: map[place]chan struct{}{},
		index: newIndex(limits{cfg.MaxBusy, float64(cfg.MaxTick.Microseconds())}), stop: make(chan struct{})}
	if d.store, err = openStore(ctx, cfg.Bus.Stream, &d.cfg.Key, cfg.TokenLifetime+holdGrace); err != nil {
		return nil, err
	}
	if d.watch, err = d.store.rooms.WatchAll(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("bucket %s of NATS: %w", roomBucket, err)
	}
	if d.sub, err = cfg.Bus.Conn.Subscribe(announce.SubjectAll, d.heard); err != nil {
		_ = d.watch.Stop()
		return nil, fmt.Errorf("fleet: %w", err)
	}
	d.done.Go(d.run)
	return d, cfg.Bus.Conn.Flush()
}

// Close ends what New began. Reservations stay.
func (d *Director) Close() {
	_ = d.sub.Unsubscribe()
	close(d.stop)
	d.done.Wait()
	_ = d.watch.Stop()
}

// run follows the reservations of other directors, and the leases of hosts.
func (d *Director) run() {
	tick := time.NewTicker(every)
	defer tick.Stop()
	updates := d.watch.Updates()
	for {
		select {
		case e, open := <-updates:
			if !open {
				updates = nil
			} else if e != nil { // nil: all that was there when the watch began
				d.follow(e)
			}
		case <-tick.C:
			d.expire()
		case <-d.stop:
			return
		}
	}
}

// follow takes the reservations of a room as the store has them.
func (d *Director) follow(e jetstream.KeyValueEntry) {
	key, ok := parseRoomKey(e.Key())
	d.mu.Lock()
	known := d.index.holds[key].revision >= e.Revision() // a write of its own, most often
	d.mu.Unlock()
	if !ok || known {
		return
	}
	of := holds{revision: e.Revision()}
	if e.Operation() == jetstream.KeyValuePut {
		of = d.store.parseHolds(e)
	}
	d.hold(key, of)
}

// heard takes a message of a host.
func (d *Director) heard(m *nats.Msg) {
	d.mu.Lock()
	now := d.cfg.Now()
	h, err := d.intake.open(m.Subject, m.Data, now)
	known := true
	if err == nil {
		_, known = d.index.hosts[h.Name]
		d.index.announce(h, now.Add(lease))
	}
	d.mu.Unlock()
	if !known {
		d.cfg.Log.Info("host found", "host", h.Name, "most_lobbies", h.MostRooms, "addresses", h.Addresses)
	}
}

// expire forgets hosts that are silent, and reservations that nobody came for.
func (d *Director) expire() {
	d.mu.Lock()
	now := d.cfg.Now()
	gone := d.index.expire(now)
	d.intake.forget(now)
	d.mu.Unlock()
	d.lost.Add(uint64(len(gone)))
	for _, h := range gone {
		d.cfg.Log.Warn("host is silent: its lobbies get no more players", "host", h.Name, "lobbies", len(h.rooms))
	}
}

package host

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/mode"
)

// DefaultDrain is the default of Config.DrainFor: what Kubernetes gives a game server that must not
// be evicted.
const DefaultDrain = 10 * time.Minute

// drain is the state of Host.Drain.
type drain struct {
	once   sync.Once
	begun  chan struct{}      // closed by the first call
	rounds map[*hosted]uint16 // that lobbies played when the drain began; used by endIdleOnce alone
	since  time.Time          // set before begun is closed
}

// Drain ends the host in order. From now on it makes no lobby, gives no token, and is not ready. A
// lobby ends as soon as it is empty or, after Config.MoveFirst, plays no round, and the host ends
// with the last lobby. After Config.DrainFor it ends with those that are left. Drain returns at
// once; any goroutine may call it, also before Run and more than once.
func (h *Host) Drain() {
	h.drain.once.Do(func() {
		h.drain.since = time.Now()
		close(h.drain.begun)
		limit := cmp.Or(h.cfg.DrainFor, DefaultDrain)
		h.log.Info("draining: no new lobby and no token; matches may go on", "for", limit)
		go h.endIdle(limit)
	})
}

// Draining reports whether Drain was called. Any goroutine may call it.
func (h *Host) Draining() bool {
	select {
	case <-h.drain.begun:
		return true
	default:
		return false
	}
}

// drainPoll is how often a host that drains looks for lobbies that may end.
const drainPoll = 200 * time.Millisecond

// endIdle ends lobbies as they become idle, and the host with the last of them or at the limit.
func (h *Host) endIdle(limit time.Duration) {
	defer h.stop()
	h.drain.rounds = map[*hosted]uint16{}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	poll := time.NewTicker(drainPoll)
	defer poll.Stop()
	for {
		left := h.endIdleOnce(ctx)
		if left == 0 {
			h.log.Info("drained: no lobby is left")
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			h.log.Warn("not drained in time: lobbies end with the server", "after", limit, "lobbies", left)
			return
		case <-h.ended:
			return
		}
	}
}

// endIdleOnce makes the lobbies end that are idle now, and returns how many are left, those that
// are being made or ended included. A lobby alone ends with the host.
func (h *Host) endIdleOnce(ctx context.Context) (left int) {
	for _, x := range *h.list.Load() {
		idle := false
		err := h.on(ctx, x, func(w *worker, _ time.Duration) {
			empty := x.lobby.Status().Phase == server.PhaseIdle
			idle = h.drain.idle(x) && (empty || time.Since(h.drain.since) >= h.cfg.MoveFirst && !x.moving.Load())
			if idle && !h.alone() {
				x.pace.leaving = packet.ReasonClosing
				w.depart(x)
			}
		})
		if err != nil || !idle {
			left++
		}
	}
	if h.alone() {
		return left
	}
	return h.making.count()
}

// idle reports whether the lobby is empty, waits for its round to begin, or plays another round
// than it did when the drain began. It runs between ticks of the lobby.
func (d *drain) idle(x *hosted) bool {
	s := x.lobby.Status()
	if s.Phase == server.PhaseIdle || s.RoundPhase == mode.Countdown {
		return true
	}
	first, known := d.rounds[x]
	if !known {
		d.rounds[x] = s.Round
		return false
	}
	return first != s.Round
}

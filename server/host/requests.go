package host

import (
	"context"
	"slices"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
)

// requests bring functions of other goroutines to the goroutine of a worker, to run between ticks.
type requests struct {
	calls    chan call
	ended    <-chan struct{} // closed when the host has ended
	stepping []*hosted       // lobbies that run files of lines
}

// call is a function that waits to run between two ticks.
type call struct {
	run  func(now time.Duration)
	done chan struct{}
}

// maxCallsPerRound bounds the calls that run before the ticks of a phase.
const maxCallsPerRound = 4

// do runs f between two ticks, and returns when it has run.
func (r *requests) do(ctx context.Context, f func(now time.Duration)) error {
	c := call{f, make(chan struct{})}
	select {
	case r.calls <- c:
	case <-ctx.Done():
		return httpapi.ErrBusy
	case <-r.ended:
		return httpapi.ErrEnded
	}
	select {
	case <-c.done:
		return nil
	case <-r.ended: // by a fault of f
		return httpapi.ErrEnded
	}
}

// runRequests runs some of the calls that wait, and steps files of lines. It runs between two ticks.
func (w *worker) runRequests(now time.Duration) {
	r := &w.requests
	for range maxCallsPerRound {
		select {
		case c := <-r.calls:
			c.run(now)
			close(c.done)
			continue
		default:
		}
		break
	}
	if len(r.stepping) == 0 {
		return
	}
	stepping := r.stepping
	r.stepping = nil
	for _, x := range stepping { // with keeps those that have more lines
		w.with(now, x, func() { w.host.show(x, x.lobby.StepConsole(now, nil), nil) })
	}
}

// with runs f, which does something with a lobby of the worker. ok is false if the lobby has ended, by
// f perhaps.
func (w *worker) with(now time.Duration, x *hosted, f func()) (ok bool) {
	return w.plays(x) && w.contained(now, x, func() {
		f()
		w.loop.wake(now, x)
		if x.lobby.Console().Pending() > 0 && !slices.Contains(w.requests.stepping, x) {
			w.requests.stepping = append(w.requests.stepping, x)
		}
	})
}

// plays reports whether the worker has a lobby.
func (w *worker) plays(x *hosted) bool { return slices.Contains(w.loop.lobbies, x) }

// on runs f between two ticks on the goroutine that plays a lobby, and returns when it has run. It
// follows a lobby that moves to another worker. Errors are httpapi.ErrBusy, and httpapi.ErrEnded if
// the lobby has ended, by f perhaps.
func (h *Host) on(ctx context.Context, x *hosted, f func(w *worker, now time.Duration)) error {
	for !x.over() {
		w, plays, ran := x.worker.Load(), false, false
		err := w.requests.do(ctx, func(now time.Duration) {
			if plays = w.plays(x); plays {
				ran = w.with(now, x, func() { f(w, now) })
			}
		})
		switch {
		case err != nil:
			return err
		case ran:
			return nil
		case plays:
			return httpapi.ErrEnded
		}
	}
	return httpapi.ErrEnded
}

// Do runs f between two ticks on the goroutine of the lobby that the host began with, and returns
// when it has run. Any goroutine but those that play may call it. Errors are httpapi.ErrBusy and
// httpapi.ErrEnded.
func (h *Host) Do(ctx context.Context, f func(now time.Duration, l *server.Lobby)) error {
	x := h.initial()
	if x == nil {
		return httpapi.ErrEnded
	}
	return h.doFor(x)(ctx, f)
}

// doFor returns httpapi.Source.Do of a lobby.
func (h *Host) doFor(x *hosted) func(context.Context, func(time.Duration, *server.Lobby)) error {
	return func(ctx context.Context, f func(time.Duration, *server.Lobby)) error {
		return h.on(ctx, x, func(_ *worker, now time.Duration) { f(now, x.lobby) })
	}
}

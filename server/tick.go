package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ghost"
)

// Tick plays one tick: it is Ticks with n = 1.
func (l *Lobby) Tick(now time.Duration, unix int64, conn netio.Conn) error {
	return l.Ticks(now, unix, conn, 1)
}

// Ticks is the architecture: one line an arrow. Datagrams that have arrived on conn by now become commands, commands move the
// match by n ticks, the match becomes history and a frame, the frame is coded against what each client is known to hold, and
// leaves in datagrams. With n above 1, at most MaxInterval, the server catches up: datagrams are read before the first tick,
// and snapshots of the last go to all clients that were due one in any of them. unix is the wall clock in seconds; only
// connect tokens are compared with it. Errors are conn's.
func (l *Lobby) Ticks(now time.Duration, unix int64, conn netio.Conn, n int) error {
	if n < 1 || n > MaxInterval {
		panic(fmt.Sprintf("server: %d ticks at once: expected 1 to %d", n, MaxInterval))
	}
	lap := l.lap()
	errIn := l.receive(now, unix, conn, &lap) // socket -> packet -> command
	if l.asleep() {
		return l.slept(errIn, &lap)
	}
	var frame *snapshot.Frame
	for l.batch = 1; ; l.batch++ {
		l.play(now, &lap)       // command -> sim -> history
		frame = l.capture(&lap) // history -> snapshot
		if l.batch == n {
			break
		}
		lap.enter(StageSnapshot)
		l.tell(now)
		l.round.send(now, l.chat.room)
	}
	l.encoder.Begin(frame, l.frames) // snapshot -> delta
	l.sums.Begin(frame)
	l.things.begin()
	errOut := l.send(now, conn, &lap) // delta -> compress -> packet -> socket
	l.done(&lap)
	l.batch = 1
	return errors.Join(errIn, errOut)
}

// play runs the match's systems and notes what each costs.
func (l *Lobby) play(now time.Duration, lap *lap) {
	l.match.Wake()
	oldest := l.match.History().Oldest()
	for _, slot := range l.live {
		l.guests[slot].brief(now, l, oldest)
	}
	l.match.Begin()
	for i := range sim.Systems() {
		lap.enter(StageSystems + Stage(i))
		l.match.Run(i)
	}
	lap.enter(StageCapture)
	l.match.End()
	l.aim.Tick(l.match)
	l.recording.tick()
	l.leaving = 0
	l.spectate.update()
}

// capture writes the frame of the tick that was just played: the very poses that history keeps.
func (l *Lobby) capture(lap *lap) *snapshot.Frame {
	frame := l.frames.Begin(l.match.Tick())
	var row [ghost.PublicFields]int32
	acts := l.match.Acts()
	poses := l.match.Poses()
	for slot := range poses {
		pose := &poses[slot]
		vital := l.match.Vital(netid.ID(pose.ID))
		if vital == nil { // nobody, or left in this tick
			continue
		}
		ghost.PublicRow(row[:], pose, vital, &acts[slot])
		frame.Set(slot, netid.ID(pose.ID), row[:])
	}
	l.things.capture(l.match)
	l.Stats.Count[Untold].Add(l.things.untold)
	return frame
}

// done ends a tick's account.
func (l *Lobby) done(lap *lap) {
	l.Stats.Rung[l.shed].Inc()
	l.count()
	lap.done(&l.Stats)
	l.lapped = *lap
	if !l.unobserved {
		l.audit()
		l.publishAfter(l.batch)
	}
}

// slept ends a tick that was not played.
func (l *Lobby) slept(err error, lap *lap) error {
	l.Stats.Count[Slept].Inc()
	l.done(lap)
	return err
}

// asleep reports whether no tick is to be played: nobody is here who would see it.
func (l *Lobby) asleep() bool { return l.cfg.Sleep && l.deserted() }

package server

import (
	"errors"
	"time"

	"github.com/tickrate/tickrate/netio"
)

// Ticks is Tick for several ticks at once, 1 to MaxInterval: what has arrived is taken in before the first, and snapshots tell of the
// last, to all who were due one in any of them. It catches up at the cost of the matches alone.
func (l *Lobby) Ticks(now time.Duration, unix int64, conn netio.Conn, n int) error {
	if n < 1 || n > MaxInterval {
		panic("server: so many ticks at once")
	}
	lap := l.lap()
	errIn := l.receive(now, unix, conn, &lap)
	if l.asleep() {
		return l.slept(errIn, &lap)
	}
	for l.batch = 1; l.batch < n; l.batch++ {
		l.play(now, &lap)
		l.capture(&lap)
		lap.enter(metrics.StageSnapshot)
		l.tell(now)
		l.tellRound()
	}
	l.play(now, &lap)
	frame := l.capture(&lap)
	l.encoder.Begin(frame, l.frames)
	l.sums.Begin(frame)
	l.things.begin()
	errOut := l.send(now, conn, &lap)
	l.done(&lap)
	l.batch = 1
	return errors.Join(errIn, errOut)
}

// done ends a tick's account.
func (l *Lobby) done(lap *lap) {
	l.Stats.LoadLevel[l.loadLevel].Inc()
	l.count()
	lap.done(&l.Stats)
	l.lapped = *lap
	if !l.unobserved {
		l.audit()
		l.publishAfter(max(l.batch, 1))
	}
}

// slept ends a tick that was not played.
func (l *Lobby) slept(err error, lap *lap) error {
	l.Stats.Count[metrics.TicksSlept].Inc()
	l.done(lap)
	return err
}

// asleep reports whether no tick is to be played: nobody is here who would see it.
func (l *Lobby) asleep() bool { return l.cfg.Sleep && l.deserted() }

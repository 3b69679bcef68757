package capture

import (
	"time"

	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Tick is what a worker knows of the ticks of a lobby that it has just played together: of one, or of
// some with which the lobby catches up. Durations are those of one tick.
type Tick struct {
	Lobby    *Lobby
	Last     tick.Tick     // of the match; the last of them
	Ticks    int           // 1 or more
	Period   time.Duration // between two ticks
	Interval time.Duration // between two snapshots to one client
	Late     time.Duration // from the schedule of the first to its begin
	Elapsed  time.Duration
	Over     time.Duration // from the deadline of the last to its end; 0 or less: it was met
	Players  int
	Idle     bool // the lobby is empty, and its match stands still: nothing is to be captured
}

// missed is why ticks are captured that missed their deadline.
const missed = "missed its deadline"

// Tick notes that ticks have ended. why is the reason to capture them, "" for none; Capture must
// follow then. It allocates nothing.
func (t *Thread) Tick(k *Tick) (why string) {
	r := t.recorder
	now := r.since()
	t.ring.add(mark{at: now, lobby: k.Lobby.id, arg: uint32(k.Last), kind: kindTick})
	k.Lobby.group = 1 + k.Players/timedConns
	if k.Idle {
		return ""
	}
	exceeded := k.Lobby.when != nil && k.Lobby.when.Exceeded(t.figures(k))
	switch {
	case k.Over > 0:
		why = missed
	case exceeded:
		why = r.when
	default:
		return ""
	}
	if !r.claim(now) {
		return ""
	}
	return why
}

// cpu is the CPU time of one of the ticks: that of the thread, as far as it fits into the tick.
func (t *Thread) cpu(k *Tick) time.Duration {
	return min(t.round.cpu/time.Duration(k.Ticks), k.Elapsed)
}

func (t *Thread) figures(k *Tick) *slo.TickFigures {
	f := &t.limited
	*f = slo.TickFigures{
		CPU: millis(t.cpu(k)), Elapsed: millis(k.Elapsed), Late: millis(k.Late), Period: millis(k.Period),
		Interval: millis(k.Interval), Players: float64(k.Players),
	}
	f.Tick = max(f.CPU, f.Elapsed)
	return f
}

// Capture has the newest ticks of the thread written down, as of the ticks k: what the worker knows
// of their lobby is about. The thread goes on with empty memory.
func (t *Thread) Capture(why string, k *Tick, about Facts) {
	r := t.recorder
	r.evidence <- evidence{why: why, at: time.Now(), now: r.since(), tick: *k, cpu: t.cpu(k), round: t.round,
		marks: t.take(<-r.spare), about: about}
}

// millis is a duration in milliseconds.
func millis(d time.Duration) float64 { return float64(d.Round(time.Microsecond)) / 1e6 }

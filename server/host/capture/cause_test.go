package capture

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// The largest part of what made a tick late is its cause. Ticks before it took 4 ms.
func TestCause(t *testing.T) {
	const ms = time.Millisecond
	began := time.Second
	for i, c := range []struct {
		what  string
		late  time.Duration // the tick began so late
		round round
		d     disturbances
		want  string
	}{
		{"a stage computed", 0, round{elapsed: 30 * ms, cpu: 29 * ms}, disturbances{}, ownerStage},
		{"a stage slept", 0, round{elapsed: 30 * ms, cpu: 4 * ms}, disturbances{}, ownerBlocked},
		{"others had the processor", 0, round{elapsed: 30 * ms, cpu: 4 * ms, runDelay: 25 * ms}, disturbances{}, ownerMachine},
		{"an idle thread was late, too", 0, round{elapsed: 30 * ms, cpu: 4 * ms},
			disturbances{hiccups: []span{{began + 2*ms, began + 27*ms}}}, ownerMachine},
		{"it was late before", 0, round{elapsed: 30 * ms, cpu: 4 * ms},
			disturbances{hiccups: []span{{began - 25*ms, began}}}, ownerBlocked},
		{"the world was stopped", 0, round{elapsed: 30 * ms, cpu: 4 * ms},
			disturbances{pauses: []span{{began + 3*ms, began + 28*ms}}}, ownerGC},
		{"the thread woke late", 40 * ms, round{elapsed: 5 * ms, cpu: 4 * ms, woke: 39 * ms}, disturbances{}, ownerMachine},
		{"the world was stopped before", 40 * ms, round{elapsed: 5 * ms, cpu: 4 * ms, woke: 39 * ms},
			disturbances{pauses: []span{{began - 40*ms, began - ms}}}, ownerGC},
		{"an earlier tick was in the way", 40 * ms, round{elapsed: 5 * ms, cpu: 4 * ms}, disturbances{}, ownerBehind},
		{"nothing", ms, round{elapsed: 5 * ms, cpu: 5 * ms}, disturbances{}, ownerLoad},
	} {
		e := evidence{tick: Tick{Late: c.late, Elapsed: c.round.elapsed, Period: 16 * ms}, round: c.round}
		e.round.began = began
		p := played{span: span{began, began + c.round.elapsed}}
		before := []played{{span: span{0, 4 * ms}}, {span: span{0, 4 * ms}}, {span: span{0, 40 * ms}}}
		p.stages[metrics.StageCapture] = c.round.elapsed
		got := e.cause(&p, before, c.d)
		named := got.Stage == "capture"
		if own := c.want == ownerStage || c.want == ownerBlocked || c.want == ownerLoad; got.Owner != c.want || named != own {
			t.Errorf("%d, %s: %+v, want %s", i, c.what, got, c.want)
		}
	}
}

// Of a gap of several periods the meter reports each; it is one hiccup.
func TestHiccupCountsOnce(t *testing.T) {
	r := &Recorder{begin: time.Now().Add(-time.Hour)}
	for late := 100 * time.Millisecond; late > 0; late -= 5 * time.Millisecond {
		r.Hiccup(late)
	}
	all := r.hiccups.all()
	if len(all) != 1 || all[0].to-all[0].from != 100*time.Millisecond {
		t.Errorf("hiccups %v", all)
	}
	(*Recorder)(nil).Hiccup(time.Second)
}

package host

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
)

// A panic in one lobby ends that lobby: its players receive the reason, its log names the place,
// and another lobby of the process goes on.
func TestThreat32Panic(t *testing.T) {
	cfg := hostConfig("mmsg")
	var log bytes.Buffer
	cfg.Log, cfg.HTTP.Listen = logTo(&log), ""
	sick, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Bool
	sick.initial().lobby.Timer().OnStage = func(s metrics.Stage) {
		if s == metrics.StageSnapshot && now.Load() {
			panic("planted")
		}
	}
	done := make(chan error, 1)
	go func() { done <- sick.Run(context.Background()) }()
	well, stop := running(t, hostConfig("mmsg"))
	a, b := greet(t, sick.Addr()), greet(t, well.Addr())
	defer a.Close()
	defer b.Close()

	now.Store(true)
	expectFault(t, a, done, &log)
	// a busy machine may cost it ticks
	if _, over := b.peer.Closed(); over || well.initial().lobby.Stats.Count[metrics.Disconnected].Load() != 0 {
		t.Errorf("the other lobby: over %v, %d dismissed", over,
			well.initial().lobby.Stats.Count[metrics.Disconnected].Load())
	}
	from := well.initial().lobby.Stats.Count[metrics.Sent].Load()
	b.until("more from the other lobby", func() bool {
		return well.initial().lobby.Stats.Count[metrics.Sent].Load() > from
	})
	stop()
}

// A panic in what the background encodes ends the lobby like one in a tick, and a panic in what is
// encoded last ends it with an error.
func TestThreat32PanicInBackground(t *testing.T) {
	for _, atTheEnd := range []bool{false, true} {
		cfg := hostConfig("mmsg")
		var log bytes.Buffer
		cfg.Log, cfg.HTTP.Listen = logTo(&log), ""
		sick, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var now atomic.Bool
		sick.initial().lobby.Timer().OnStage = func(s metrics.Stage) {
			if s == metrics.StageSnapshot && now.CompareAndSwap(true, false) {
				sick.initial().leave(func() { panic("planted") })
			}
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		done := make(chan error, 1)
		go func() { done <- sick.Run(ctx) }()
		a := greet(t, sick.Addr())
		defer a.Close()
		if !atTheEnd {
			now.Store(true)
			expectFault(t, a, done, &log)
			continue
		}
		running := make(chan struct{})
		sick.encoder.queue <- job{func() { <-running; panic("planted") }, sick.initial()}
		stop()
		close(running)
		if err := <-done; !errors.Is(err, errFault) || !strings.Contains(log.String(), "planted") {
			t.Errorf("it ended with %v: %s", err, log.String())
		}
	}
}

// What finds the queue of the background full waits, and runs later in its order.
func TestBackgroundNeverBlocksTheTick(t *testing.T) {
	b := backlog{to: newBackground(0, nil)}
	var ran []int
	for i := range 100 {
		b.waiting = append(b.waiting, job{run: func() { ran = append(ran, i) }})
		b.flush()
	}
	b.to.start()
	b.finish()
	b.to.close()
	if len(ran) != 100 || !slices.IsSorted(ran) {
		t.Errorf("ran %v", ran)
	}
}

// expectFault waits until a client has received the reason of a lobby's end, and the lobby has ended
// with a log that names the place.
func expectFault(t *testing.T, a *greeted, done <-chan error, log *bytes.Buffer) {
	t.Helper()
	a.until("word of the fault", func() bool {
		why, over := a.peer.Closed()
		return over && why == packet.ReasonFault
	})
	select {
	case err := <-done:
		if !errors.Is(err, errFault) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the lobby with a fault still runs")
	}
	if s := log.String(); !strings.Contains(s, "planted") || !strings.Contains(s, "seed=0") ||
		!strings.Contains(s, "fault_test.go") {
		t.Errorf("the log does not say what and where: %s", s)
	}
}

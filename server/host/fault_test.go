package host

import (
	"bytes"
	"context"
	"errors"
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
	cfg.Log, cfg.HTTP.Listen = &log, ""
	sick, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Bool
	sick.first.lobby.Timer().OnStage = func(s metrics.Stage) {
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
	a.until("word of the fault", func() bool {
		why, over := a.peer.Closed()
		return over && why == packet.ReasonFault
	})
	select {
	case err := <-done:
		if !errors.Is(err, errFault) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(2 * time.Second):
		t.Fatal("the lobby with a fault still runs")
	}
	if s := log.String(); !strings.Contains(s, "planted") || !strings.Contains(s, "seed 0") ||
		!strings.Contains(s, "fault_test.go") {
		t.Errorf("the log does not say what and where: %s", s)
	}
	// a busy machine may cost it ticks
	if _, over := b.peer.Closed(); over || well.first.lobby.Stats.Count[metrics.Disconnected].Load() != 0 {
		t.Errorf("the other lobby: over %v, %d dismissed", over,
			well.first.lobby.Stats.Count[metrics.Disconnected].Load())
	}
	from := well.first.lobby.Stats.Count[metrics.Sent].Load()
	b.until("more from the other lobby", func() bool {
		return well.first.lobby.Stats.Count[metrics.Sent].Load() > from
	})
	stop()
}

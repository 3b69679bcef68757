package client

import (
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// TestNetgraph: netgraphs of a second each, over a bad path, add up to the Stats of the client and
// match the path.
func TestNetgraph(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 61, extras: 15})
	s := l.addClient(l.config(), link{delay: 40 * time.Millisecond, jitter: 8 * time.Millisecond, loss: 0.1})
	var g Grapher
	var sum Netgraph
	for second := range 20 {
		l.run(time.Second)
		n := g.Take(s.client)
		if second > 5 {
			if n.RTT < 80*time.Millisecond || n.RTT > 120*time.Millisecond ||
				n.Loss < 0.02 || n.Loss > 0.25 || n.Buffer < -1 || n.Snapshots < 10 {
				t.Errorf("second %d: %v", second, n)
			}
			if n.Down.Rows <= n.Down.Header || n.Down.Seal == 0 || n.Down.Owner == 0 ||
				n.Up == 0 || n.Over < 900*time.Millisecond || n.Over > 1100*time.Millisecond {
				t.Errorf("second %d: %+v", second, n)
			}
		}
		sum.Mispredictions += n.Mispredictions
		sum.InputsMissing += n.InputsMissing
		sum.Snapshots += n.Snapshots
		sum.Replayed += n.Replayed
		sum.Up += n.Up
		sum.Down.Rows += n.Down.Rows
		sum.Down.Refused += n.Down.Refused
	}
	st := s.client.Stats()
	if sum.Mispredictions != st.Prediction.Mispredictions || sum.InputsMissing != st.InputsMissing ||
		sum.Snapshots != st.Snapshots ||
		sum.Replayed != st.Prediction.Replayed || sum.Up != st.BytesOut ||
		sum.Down.Rows != st.Traffic.Rows || sum.Down.Refused != st.Traffic.Refused {
		t.Errorf("the sum of all is %+v, the client has %+v", sum, st)
	}
	if line := g.Take(s.client).String(); strings.Contains(line, "NaN") ||
		strings.Contains(line, "Inf") || strings.Contains(line, "\n") || !strings.Contains(line, "rtt ") {
		t.Errorf("a graph of no time reads %q", line)
	}
	if n := alloctest.In(10, func() { g.Take(s.client) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// metric is a row of the table of metrics.
type metric struct {
	name   string
	unit   string   // as docs/metrics.md names it
	labels []string // after the label lobby
	strip  string   // prefix of label values that repeats what the name says
	help   string   // one sentence
	read   read     // exports the values
	of     metricOf
	fine   bool             // classic buckets near the usual periods of ticks
	brief  bool             // exported for each lobby of a thousand
	desc   *prometheus.Desc // set by init
}

// metricOf says what a metric is about where lobbies share a port.
type metricOf uint8

const (
	ofLobby  metricOf = iota
	ofBoth            // a lobby; under PortName what belongs to no lobby
	ofSocket          // the sockets: under PortName only
	ofHost            // the host: under PortName of the first worker only
	ofWorker          // the workers of lobbies that share a port: under PortName only
)

// The types of figures below, for short lines.
type (
	stats     = metrics.Stats
	sched     = metrics.Schedule
	bandwidth = metrics.Bandwidth
	cens      = server.Census
)

func init() {
	for i := range metricTable {
		m := &metricTable[i]
		m.desc = prometheus.NewDesc(m.name, m.help, append([]string{"lobby"}, m.labels...), nil)
	}
}

// inputCounts are what becomes of commands, and ticks without one.
var inputCounts = []metrics.Count{
	metrics.InputsUsed, metrics.InputsMissing, metrics.InputsDuplicate, metrics.InputsStale,
	metrics.InputsFuture, metrics.InputsConflict, metrics.InputsClamped,
}

// sessionCounts are the events of sessions.
var sessionCounts = []metrics.Count{
	metrics.Joined, metrics.Left, metrics.TimedOut, metrics.Disconnected,
	metrics.Reconnected, metrics.Takeovers, metrics.Migrated,
	metrics.FloodKicked, metrics.IdleWarned, metrics.IdleKicked, metrics.RejectedFull, metrics.SpectatorsShed,
}

func readState(s *sink) {
	now := s.state()
	for state := range numStates {
		v := 0.0
		if state == now {
			v = 1
		}
		s.gauge(v, state.String())
	}
}

func readLobbies(s *sink) {
	n := 1
	if s.Host != nil {
		n = s.Host.Lobbies()
	}
	s.gauge(float64(n))
}

func readFaults(s *sink) {
	var n uint64
	if s.Host != nil {
		n = s.Host.Faults()
	}
	s.counter(float64(n))
}

func readCells(s *sink) {
	for _, c := range s.summary.Bandwidth.Cells {
		s.counter(float64(c.Bits)/8, c.Component, c.Field, c.Reason)
	}
}

func readDelayed(s *sink) {
	for i, c := range []metrics.Count{metrics.SnapshotsAckStalled, metrics.SnapshotsUnacked,
		metrics.SnapshotsThrottled} {
		s.counter(float64(s.stats().Count[c].Load()), server.DelayReason(i+1).String())
	}
}

func readPlayers(s *sink) {
	for why, n := range s.summary.Replication.Players {
		s.counter(float64(n), server.Reason(why).String())
	}
}

func readObjects(s *sink) {
	for kind := netstate.Kind(1); kind.Known(); kind++ {
		for why, n := range s.summary.Replication.Objects[kind] {
			if n > 0 || server.Reason(why) == server.ReasonSent {
				s.counter(float64(n), kind.String(), server.Reason(why).String())
			}
		}
	}
}

func readHandOvers(s *sink) {
	n := s.port.Handed()
	s.counter(float64(n.Handed), "handed")
	s.counter(float64(n.Got), "got")
	s.counter(float64(n.Dropped), "dropped")
}

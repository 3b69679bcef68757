package capture

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
)

// ReportVersion is the version of the JSON of Report.
const ReportVersion = 1

// evidence is a captured tick, as its thread hands it to the writer.
type evidence struct {
	why   string
	at    time.Time
	now   time.Duration // by the clock of the Recorder
	tick  Tick
	cpu   time.Duration // of one tick
	round round
	marks *ring
	about Facts
}

// Facts are what a worker knows of a lobby when a tick of it is captured.
type Facts struct {
	Name      string // of the lobby
	Map       string // name, as clients see it
	Content   string // pack of the map, as the host names it; "" for the host's own
	LoadLevel string // what overload left out
	Players   Players
	Traffic   Traffic
	Queues    Queues
	Conns     []Conn // with a session or a body
	HeldBack  []HeldBack
	// writes the recording around a tick into a file, and waits until it has that; nil: not recorded
	Recording func(at tick.Tick, path string) error
}

// Since returns what was counted after an earlier count.
func (t Traffic) Since(was Traffic) Traffic {
	return Traffic{t.DatagramsIn - was.DatagramsIn, t.BytesIn - was.BytesIn,
		t.DatagramsOut - was.DatagramsOut, t.BytesOut - was.BytesOut, t.Snapshots - was.Snapshots}
}

// Players count the connections of a lobby.
type Players struct {
	Players    int `json:"players"`
	Spectators int `json:"spectators"`
	Ready      int `json:"ready"`   // get snapshots
	Joining    int `json:"joining"` // of those, the ones that do not hold all visible rows yet
}

// Traffic is what a lobby received and sent in the captured ticks, in bytes of UDP payload.
type Traffic struct {
	DatagramsIn  uint64 `json:"datagrams_in"`
	BytesIn      uint64 `json:"bytes_in"`
	DatagramsOut uint64 `json:"datagrams_out"`
	BytesOut     uint64 `json:"bytes_out"`
	Snapshots    uint64 `json:"snapshots"`
}

// Queues are what waited when the captured ticks had ended.
type Queues struct {
	Arrivals   int `json:"arrivals"`   // sessions without a player
	Reliable   int `json:"reliable"`   // messages to all clients, not acked
	Background int `json:"background"` // recordings and killcams to encode, of the worker
	Recording  int `json:"recording"`  // chunks to write to disk, of the lobby
	Socket     int `json:"socket"`     // datagrams that the socket's back end has not handed over
}

// Conn names a connection.
type Conn struct {
	Slot int    `json:"slot"`
	ID   string `json:"id,omitempty"` // net id of its player
	Name string `json:"name,omitempty"`
}

// HeldBack is a connection whose snapshot was due and did not go.
type HeldBack struct {
	Conn
	Why string `json:"why"` // ack_stalled, unacked or throttled
}

// ConnShare is the time of a connection's snapshot in a tick: with those of a few others, if the lobby
// has 128 connections or more.
type ConnShare struct {
	Conn
	Micros float64 `json:"us"`
	With   []Conn  `json:"with,omitempty"` // connections that the time includes
}

// StageTime is the elapsed time of a stage in the captured tick, beside its median in the ticks before
// it.
type StageTime struct {
	Name   string  `json:"name"`
	Micros float64 `json:"us"`
	Median float64 `json:"median_us"`
}

// Report is what tick.json says of a captured tick. Where a lobby caught up with several ticks
// together, it is about all of them.
type Report struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Go      string    `json:"go"`
	Lobby   string    `json:"lobby"`
	Tick    uint32    `json:"tick"`
	Ticks   int       `json:"ticks"` // played together; 1 but to catch up
	Why     string    `json:"why"`
	Cause   Cause     `json:"cause"`
	Times   Times     `json:"times_ms"`
	// what is wrong with match.tkr; "" for nothing, or that the lobby records nothing
	Recording string      `json:"recording_error,omitempty"`
	Compared  int         `json:"compared_ticks"` // before this one; the medians are theirs
	Stages    []StageTime `json:"stages"`
	Slowest   []ConnShare `json:"slowest_snapshots"`
	LoadLevel string      `json:"load_level"` // what the lobby left out to catch up
	HeldBack  []HeldBack  `json:"held_back"`
	Players   Players     `json:"players"`
	Traffic   Traffic     `json:"traffic"`
	Queues    Queues      `json:"queues"`
}

// Times are the times of the captured tick in milliseconds; of the mean one of several.
type Times struct {
	Period   float64 `json:"period"`
	Late     float64 `json:"late"` // its begin after its schedule
	Elapsed  float64 `json:"elapsed"`
	Median   float64 `json:"median_elapsed"` // of those before
	CPU      float64 `json:"cpu"`
	RunDelay float64 `json:"run_delay"` // ready to run while other processes had the processor
	GC       float64 `json:"gc_pauses"` // within it
	Hiccup   float64 `json:"hiccups"`   // of an idle thread, within it or its lateness
	Over     float64 `json:"over_deadline"`
}

// slowestConns is how many connections a report names.
const slowestConns = 8

// report makes the report of a captured tick. covered is false if the marks do not cover it.
func (e *evidence) report(marks []mark, d disturbances) (r Report) {
	k := &e.tick
	p, before, covered := split(playedOf(marks, k.Lobby.id), uint32(k.Last))
	r = Report{Version: ReportVersion, At: e.at.UTC(), Go: runtime.Version(), Lobby: e.about.Name,
		Tick: uint32(k.Last), Ticks: k.Ticks, Why: e.why, Compared: len(before),
		Stages: []StageTime{}, Slowest: e.slowest(&p, slowestConns), LoadLevel: e.about.LoadLevel, HeldBack: e.heldBack(),
		Players: e.about.Players, Traffic: e.about.Traffic, Queues: e.about.Queues}
	for s := range metrics.Stage(metrics.NumStages) {
		r.Stages = append(r.Stages, StageTime{s.String(), micros(p.stages[s]), micros(stageMedian(before, s))})
	}
	in := span{e.round.began, e.round.began + e.round.elapsed}
	r.Times = Times{Period: millis(k.Period), Late: millis(k.Late), Elapsed: millis(k.Elapsed),
		Median: millis(median(before, (*played).elapsed)), CPU: millis(e.cpu),
		RunDelay: millis(e.round.runDelay), GC: millis(overlap(d.pauses, in)),
		Hiccup: millis(overlap(d.hiccups, span{in.from - k.Late, in.to})), Over: millis(k.Over)}
	if r.Cause = (Cause{Owner: notCovered, Text: "The tick had more stages than are kept."}); covered {
		r.Cause = e.cause(&p, before, d)
	}
	return r
}

// slowest returns the n connections whose snapshots took the most time.
func (e *evidence) slowest(p *played, n int) []ConnShare {
	conns := slices.Clone(p.conns)
	slices.SortStableFunc(conns, func(a, b connsTime) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	all := []ConnShare{}
	for _, c := range conns[:min(n, len(conns))] {
		share := ConnShare{Conn: e.conn(int(c.slots[0])), Micros: micros(c.to - c.from)}
		for _, slot := range c.slots[1:] {
			share.With = append(share.With, e.conn(int(slot)))
		}
		all = append(all, share)
	}
	return all
}

// conn names the connection of a slot.
func (e *evidence) conn(slot int) Conn {
	for _, c := range e.about.Conns {
		if c.Slot == slot {
			return c
		}
	}
	return Conn{Slot: slot}
}

// heldBack names the connections that were held back.
func (e *evidence) heldBack() []HeldBack {
	all := []HeldBack{}
	for _, h := range e.about.HeldBack {
		all = append(all, HeldBack{e.conn(h.Slot), h.Why})
	}
	return all
}

// micros is a duration in microseconds.
func micros(d time.Duration) float64 { return float64(d) / 1e3 }

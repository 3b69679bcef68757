package client

import (
	"fmt"
	"time"
)

// Traffic is what arrived, in bytes of UDP payload, by section. The sum is Stats.BytesIn.
type Traffic struct {
	Session  uint64 `json:"session"`  // datagrams without a package: the handshake, keep-alives
	Seal     uint64 `json:"seal"`     // prefix, sequence and tag of the others
	Header   uint64 `json:"header"`   // of packages
	Messages uint64 `json:"messages"` // events, notes, content, a close
	Owner    uint64 `json:"owner"`    // our own row, and the snapshots' heads
	Rows     uint64 `json:"rows"`     // what others do
	Things   uint64 `json:"things"`   // flights, barrels and so on; among Rows if the client is thin
	Refused  uint64 `json:"refused"`  // dropped, or not read to its end
}

// Total is the sum.
func (t Traffic) Total() uint64 {
	return t.Session + t.Seal + t.Header + t.Messages + t.Owner + t.Rows + t.Things + t.Refused
}

func (t Traffic) minus(o Traffic) Traffic {
	return Traffic{t.Session - o.Session, t.Seal - o.Seal, t.Header - o.Header, t.Messages - o.Messages,
		t.Owner - o.Owner, t.Rows - o.Rows, t.Things - o.Things, t.Refused - o.Refused}
}

// Netgraph is how a client's connection fares, over the time since the one before.
type Netgraph struct {
	Over           time.Duration `json:"over_ns"`
	RTT            time.Duration `json:"rtt_ns"`         // smoothed
	Jitter         time.Duration `json:"jitter_ns"`      // how late the latest twentieth of the snapshots are
	Loss           float32       `json:"loss"`           // share of our packages that is lost, smoothed
	Buffer         int8          `json:"buffer_ticks"`   // commands that waited on the server, in its newest report
	BufferWanted   time.Duration `json:"buffer_wanted"`  // ns, what the predicted clock steers for
	InterpDelay    time.Duration `json:"interp_ns"`      // from the newest snapshot that could be here to what is looked at
	SnapshotAge    time.Duration `json:"age_ns"`         // of the newest snapshot
	Snapshots      uint64        `json:"snapshots"`      // that came
	Mispredictions uint64        `json:"mispredictions"` // as Prediction's
	Replayed       uint64        `json:"replayed_ticks"`
	Starved        uint64        `json:"starved_ticks"` // that the server had to play without our command
	Stalls         uint64        `json:"stalls"`        // frames in which the picture had to wait
	HardResets     uint64        `json:"hard_resets"`
	Down           Traffic       `json:"down_bytes"`
	Up             uint64        `json:"up_bytes"` // of UDP payload
}

// Grapher makes Netgraphs of one client. Its zero value begins with the client's first moment.
type Grapher struct {
	last Stats
	at   time.Duration
}

// Take is the Netgraph from the last Take to the client's last Advance. It allocates nothing.
func (g *Grapher) Take(c *Client) Netgraph {
	s, was := c.Stats(), &g.last
	n := Netgraph{
		Over: c.now - g.at, RTT: s.RTT, Jitter: s.Jitter, Loss: s.Loss, Buffer: s.Lead, BufferWanted: s.LeadWanted,
		InterpDelay: s.InterpDelay, SnapshotAge: s.SnapshotAge,
		Snapshots:      s.Snapshots - was.Snapshots,
		Mispredictions: s.Prediction.Mispredictions - was.Prediction.Mispredictions,
		Replayed:       s.Prediction.Replayed - was.Prediction.Replayed,
		Starved:        s.Starved - was.Starved, Stalls: s.RenderStalls - was.RenderStalls,
		HardResets: s.HardResets + s.RenderResets - was.HardResets - was.RenderResets,
		Down:       s.Traffic.minus(was.Traffic), Up: s.BytesOut - was.BytesOut,
	}
	g.last, g.at = s, c.now
	return n
}

// String is the graph as a line.
func (n Netgraph) String() string {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	kbps := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / max(n.Over.Seconds(), 1e-9) }
	return fmt.Sprintf("rtt %.1f ms  jitter %.1f ms  loss %.1f %%  buffer %d of %.1f ms  interp %.0f ms  age %.0f ms  mispredicted %d  replayed %d  starved %d  "+
		"down %.1f kbit/s (rows %.1f, things %.1f, own %.1f, messages %.1f, headers %.1f)  up %.1f",
		ms(n.RTT), ms(n.Jitter), 100*n.Loss, n.Buffer, ms(n.BufferWanted), ms(n.InterpDelay), ms(n.SnapshotAge), n.Mispredictions, n.Replayed, n.Starved,
		kbps(n.Down.Total()), kbps(n.Down.Rows), kbps(n.Down.Things), kbps(n.Down.Owner), kbps(n.Down.Messages), kbps(n.Down.Session+n.Down.Seal+n.Down.Header+n.Down.Refused), kbps(n.Up))
}

package client

import (
	"fmt"
	"time"
)

// Traffic is the bytes of UDP payload received, by section. The sum is Stats.BytesIn.
type Traffic struct {
	Session  uint64 `json:"session"`  // datagrams without a packet: the handshake, keep-alives
	Seal     uint64 `json:"seal"`     // prefix, sequence and tag of the others
	Header   uint64 `json:"header"`   // of packets
	Messages uint64 `json:"messages"` // reliable and unreliable messages, transfers, a close
	Owner    uint64 `json:"owner"`    // own rows, and the heads of snapshots
	Rows     uint64 `json:"rows"`     // of other players
	Objects  uint64 `json:"objects"`  // counted as Rows without DecodeFull
	Effects  uint64 `json:"effects"`  // impacts and damage, likewise
	Refused  uint64 `json:"refused"`  // dropped, or after the last valid section
}

// Total is the sum.
func (t Traffic) Total() uint64 {
	return t.Session + t.Seal + t.Header + t.Messages + t.Owner + t.Rows + t.Objects + t.Effects + t.Refused
}

func (t Traffic) minus(o Traffic) Traffic {
	return Traffic{t.Session - o.Session, t.Seal - o.Seal, t.Header - o.Header, t.Messages - o.Messages,
		t.Owner - o.Owner, t.Rows - o.Rows, t.Objects - o.Objects, t.Effects - o.Effects, t.Refused - o.Refused}
}

// Netgraph is the quality of a client's connection since the last Netgraph.
type Netgraph struct {
	Over           time.Duration
	RTT            time.Duration // smoothed
	Jitter         time.Duration // 95th percentile of snapshot lateness
	Loss           float32       // uplink loss, smoothed, 0 to 1
	Buffer         int8          // commands queued on the server
	BufferWanted   time.Duration // that the predicted clock steers for
	InterpDelay    time.Duration // view delay behind the newest tick
	SnapshotAge    time.Duration // of the newest snapshot
	Snapshots      uint64        // received
	Mispredictions uint64        // owner rows unlike the prediction
	Replayed       uint64
	InputsMissing  uint64 // ticks that the server played without it
	Stalls         uint64 // frames in which the picture waited
	HardResets     uint64
	Down           Traffic // bytes
	Up             uint64  // bytes of UDP payload
}

// Grapher takes Netgraphs of one client. Its zero value starts with the client's first instant.
type Grapher struct {
	last Stats
	at   time.Duration
}

// Take returns the Netgraph from the last Take to the client's last Advance. It allocates nothing.
func (g *Grapher) Take(c *Client) Netgraph {
	s, was := c.Stats(), &g.last
	n := Netgraph{
		Over: c.clock.Now - g.at, RTT: s.RTT, Jitter: s.Jitter, Loss: s.Loss,
		Buffer: s.Lead, BufferWanted: s.LeadWanted,
		InterpDelay: s.InterpDelay, SnapshotAge: s.SnapshotAge,
		Snapshots:      s.Snapshots - was.Snapshots,
		Mispredictions: s.Prediction.Mispredictions - was.Prediction.Mispredictions,
		Replayed:       s.Prediction.Replayed - was.Prediction.Replayed,
		InputsMissing:  s.InputsMissing - was.InputsMissing, Stalls: s.RenderStalls - was.RenderStalls,
		HardResets: s.HardResets + s.RenderResets - was.HardResets - was.RenderResets,
		Down:       s.Traffic.minus(was.Traffic), Up: s.BytesOut - was.BytesOut,
	}
	g.last, g.at = s, c.clock.Now
	return n
}

// String formats the graph as one line.
func (n Netgraph) String() string {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	kbps := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / max(n.Over.Seconds(), 1e-9) }
	down := &n.Down
	headers := down.Session + down.Seal + down.Header + down.Refused
	return fmt.Sprintf("rtt %.1f ms  jitter %.1f ms  loss %.1f %%  buffer %d of %.1f ms  "+
		"interp %.0f ms  age %.0f ms  "+
		"mispredicted %d  replayed %d  inputs missing %d  "+
		"down %.1f kbit/s (rows %.1f, objects %.1f, own %.1f, messages %.1f, headers %.1f)  up %.1f",
		ms(n.RTT), ms(n.Jitter), 100*n.Loss, n.Buffer, ms(n.BufferWanted),
		ms(n.InterpDelay), ms(n.SnapshotAge),
		n.Mispredictions, n.Replayed, n.InputsMissing,
		kbps(down.Total()), kbps(down.Rows), kbps(down.Objects), kbps(down.Owner), kbps(down.Messages),
		kbps(headers), kbps(n.Up))
}

package host

import (
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host/capture"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// captured is what a lobby has for captures of its ticks. It belongs to its worker.
type captured struct {
	marks *capture.Lobby  // nil: nothing is captured
	was   capture.Traffic // counted until the tick before
}

// mark has the stages and connections of a lobby of that configuration marked for captures.
func (x *hosted) mark(h *Host, w *worker, c *server.Config) {
	if w.capture == nil {
		return
	}
	x.labels.CoarseRegions()
	x.marks = w.capture.Lobby(c.ID)
	c.EnterStage, c.EnterConn = x.marks.Beside(c.EnterStage), x.marks.Conn
	if stage, stall, id := c.EnterStage, h.cfg.stall, c.ID; stall != nil {
		c.EnterStage = func(s metrics.Stage) {
			stage(s)
			stall(id, s, -1)
		}
		c.EnterConn = func(slot int) {
			x.marks.Conn(slot)
			stall(id, metrics.StageSnapshot, slot)
		}
	}
}

// markPort has the stages of a shared port marked beside their labels.
func (w *worker) markPort(labels *httpapi.StageLabels) func(metrics.Stage) {
	if w.capture == nil {
		return labels.Enter
	}
	labels.CoarseRegions()
	return w.capture.Lobby(capture.Port).Beside(labels.Enter)
}

// moveMarks makes the marks of a lobby those of another worker.
func (x *hosted) moveMarks(to *capture.Thread) {
	if x.marks != nil {
		x.marks.Move(to)
	}
}

// captureTicks captures the ticks that a lobby has played, if they missed their deadline. The batch
// in hand began at began; the lobby's part of it ended at ended.
func (w *worker) captureTicks(t *turn, b *server.Due, began, ended time.Duration) {
	if w.capture == nil {
		return
	}
	x, period := t.hosted, t.pace.ticks.Period()
	first := t.due
	t.due += time.Duration(b.Ticks) * period
	if x.over() {
		return
	}
	c := x.lobby.Config()
	k := capture.Tick{Lobby: x.marks, Last: x.lobby.Match().Tick(), Ticks: b.Ticks, Period: period,
		Interval: time.Duration(c.SendInterval) * period, Late: max(0, began-first),
		Elapsed: b.Took / time.Duration(b.Ticks), Over: ended - t.due, Players: x.lobby.Live(),
		Idle: x.lobby.Asleep()}
	traffic, was := x.traffic(), x.was
	x.was = traffic
	if why := w.capture.Tick(&k); why != "" {
		w.contained(began, x, func() { w.capture.Capture(why, &k, w.facts(x, traffic.Since(was))) })
	}
}

// traffic is what the lobby has received and sent so far.
func (x *hosted) traffic() capture.Traffic {
	n := &x.lobby.Stats.Count
	return capture.Traffic{DatagramsIn: n[metrics.Received].Load(), BytesIn: n[metrics.BytesIn].Load(),
		DatagramsOut: n[metrics.Sent].Load(), BytesOut: n[metrics.BytesOut].Load(),
		Snapshots: n[metrics.Snapshots].Load()}
}

// facts gathers what is known of a lobby between ticks.
func (w *worker) facts(x *hosted, traffic capture.Traffic) (f capture.Facts) {
	p, sock := x.lobby.Pressure(), w.sock.Stats()
	f = capture.Facts{Name: x.name(), Map: x.lobby.Config().ArenaName, Content: x.content, LoadLevel: p.Level.String(), Traffic: traffic,
		Players: capture.Players{Players: p.Players, Spectators: p.Spectators, Ready: p.Ready,
			Joining: p.Joining},
		Queues: capture.Queues{Arrivals: p.Arriving, Reliable: p.Reliable,
			Background: len(w.backlog.to.queue) + len(w.backlog.waiting), Recording: x.recorder.waiting(),
			Socket: int(sock.DatagramsIn - sock.Delivered)}}
	if x.recorder != nil {
		f.Recording = x.recorder.excerpt
	}
	for _, v := range x.lobby.AppendPlayerViews(nil) {
		f.Conns = append(f.Conns, capture.Conn{Slot: v.Slot, ID: v.ID.String(), Name: v.Name})
	}
	for _, held := range p.HeldBack {
		f.HeldBack = append(f.HeldBack, capture.HeldBack{Conn: capture.Conn{Slot: held.Slot}, Why: held.Why.String()})
	}
	return f
}

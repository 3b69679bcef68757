package server

import (
	"runtime"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// mark is the state of everything that only grows, at the last reset: a report is the difference.
type mark struct {
	at, cpu time.Duration
	count   [metrics.NumCounts]uint64
	refused [netcode.NumDrops]uint64
	drops   [packet.NumDrops]uint64
	chat    [chat.NumRefusals]uint64
	socket  netio.Stats
	mallocs uint64
	gcs     uint32
	stalls  uint64
	overrun uint64
	caught  uint64
}

func (h *Host) mark(mem *runtime.MemStats) (m mark) {
	runtime.ReadMemStats(mem)
	m.at, m.cpu, m.mallocs, m.gcs, m.stalls = h.clock(), clock.ProcessCPU(), mem.Mallocs, mem.NumGC, h.stalls.Load()
	m.socket, m.overrun = h.conn.Stats(), h.overruns.Load()
	m.caught = h.caught.Load()
	for i := range m.count { // metrics.Joined before metrics.Left and metrics.TimedOut would count a player away for a moment
		m.count[metrics.NumCounts-1-metrics.Count(i)] = h.lobby.Stats.Count[metrics.NumCounts-1-metrics.Count(i)].Load()
	}
	for i := range m.refused {
		m.refused[i] = h.lobby.Stats.AuthDrops[i].Load()
	}
	for i := range m.drops {
		m.drops[i] = h.lobby.Stats.PacketDrops[i].Load()
	}
	for i := range m.chat {
		m.chat[i] = h.lobby.Stats.ChatRefused[i].Load()
	}
	return m
}

// reset begins a new measurement.
func (h *Host) reset() {
	var mem runtime.MemStats
	h.since = h.mark(&mem)
	h.lateness.Reset()
	h.raw.Reset()
	if h.hiccup != nil {
		h.hiccup()
	}
	h.wall.Reset()
	h.lobby.Stats.Tick.Reset()
	for _, s := range h.lobby.Stats.Stage {
		s.Reset()
	}
}

// report sums up since the last reset.
func (h *Host) report() metrics.Report {
	var mem runtime.MemStats
	now, s := h.mark(&mem), &h.lobby.Stats
	r := metrics.Report{
		Version: metrics.ReportVersion,
		Seconds: (now.at - h.since.at).Seconds(), CPUSeconds: (now.cpu - h.since.cpu).Seconds(),
		Rate: int(h.rates.Simulation), Interval: h.interval,
		Players: int(now.count[metrics.Joined] - now.count[metrics.Left] - now.count[metrics.TimedOut] - now.count[metrics.Disconnected]),
		Workers: h.pool.Workers(),
		Rewind:  metrics.NativeSpreadOf(s.Rewind, time.Millisecond), ViewClamp: metrics.NativeSpreadOf(s.ViewClamp, time.Millisecond),
		TickCPU: metrics.SpreadOf(s.Tick, time.Microsecond), TickWall: metrics.SpreadOf(h.wall, time.Microsecond),
		Lateness: metrics.SpreadOf(h.lateness, time.Microsecond),
		Overruns: now.overrun - h.since.overrun, LoadLevel: overload.Level(h.shed.Load()).String(),
		TicksSkipped: now.stalls - h.since.stalls, Allocs: now.mallocs - h.since.mallocs,
		GCs: uint64(now.gcs - h.since.gcs), HeapBytes: mem.HeapAlloc,
		Counts: map[string]uint64{}, Drops: map[string]uint64{}, SocketLost: now.socket.Lost() - h.since.socket.Lost(), Socket: now.socket,
		Query: h.query.counters(), LoadLevels: map[string]uint64{}, CaughtUp: now.caught - h.since.caught,
	}
	for i := range s.LoadLevel {
		r.LoadLevels[overload.Level(i).String()] = s.LoadLevel[i].Load()
	}
	if p := h.playing.Load(); p != nil {
		r.Phase, r.Map, r.Mode, r.Spectators = p.phase.String(), p.arena, p.mode, p.spectators
	}
	r.LatenessRaw = metrics.SpreadOf(h.raw, time.Microsecond)
	if h.hiccup != nil {
		took := h.hiccup()
		r.Hiccup = &took
	}
	r.Stages = s.StageCosts()
	for i := range now.count {
		r.Counts[metrics.Count(i).String()] = now.count[i] - h.since.count[i]
	}
	for i := netcode.DropNone + 1; i < netcode.NumDrops; i++ {
		if n := now.refused[i] - h.since.refused[i]; n > 0 {
			r.Drops[i.String()] = n
		}
	}
	for i := packet.DropNone + 1; i < packet.NumDrops; i++ {
		if n := now.drops[i] - h.since.drops[i]; n > 0 {
			r.Drops[i.String()] = n
		}
	}
	for i := chat.RefusedNone + 1; i < chat.NumRefusals; i++ {
		if n := now.chat[i] - h.since.chat[i]; n > 0 {
			r.Drops[i.String()] = n
		}
	}
	return r
}

package httpapi

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// reporter makes reports of what has grown since the last reset. Its mutex orders readers and
// resets; the tick never takes it.
type reporter struct {
	src   *Source
	mu    sync.Mutex // guards since
	since totals     // at the last reset
}

// process is what /stats says of the whole process, at one moment.
type process struct {
	cpu    time.Duration // CPU time
	mem    runtime.MemStats
	hiccup *metrics.Spread // wake-up delays since the last reset; nil: not measured
	slow   *metrics.Spread // slowdown of the processor, likewise
}

// machine is what the whole process measures of its machine; nil: not measured.
type machine struct{ hiccup, slowdown *meter.Histogram }

func (s *Source) machine() machine { return machine{s.Hiccup, s.Slowdown} }

// read reads the figures of the process. runtime.ReadMemStats stops the world briefly.
func (p *process) read(m machine) {
	p.cpu = clock.ProcessCPU()
	runtime.ReadMemStats(&p.mem)
	if m.hiccup != nil {
		p.hiccup = new(metrics.SpreadOf(m.hiccup.Summary(), time.Millisecond))
	}
	if m.slowdown != nil {
		p.slow = new(metrics.SpreadOf(m.slowdown.Summary(), clock.SlowdownUnit))
	}
}

// reset reads the figures of the process, and begins anew those that have no difference.
func (p *process) reset(m machine) {
	p.read(machine{})
	for _, h := range []*meter.Histogram{m.hiccup, m.slowdown} {
		if h != nil {
			h.Reset()
		}
	}
}

// totals are all figures that only grow, at one moment.
type totals struct {
	at, cpu  time.Duration // clock of the host; CPU time of the process
	count    [metrics.NumCounts]uint64
	auth     [netcode.NumDrops]uint64 // datagrams that netcode refused
	packets  [packet.NumDrops]uint64  // packets that were refused
	chat     [chat.NumRefusals]uint64 // lines that were refused
	socket   netio.Stats
	mallocs  uint64   // heap objects allocated
	gcs      uint32   // garbage collections
	skipped  uint64   // ticks that were never played
	overruns uint64   // ticks longer than their period
	caughtUp uint64   // ticks played late, together with others
	missing  []uint64 // ticks without a command, by slot; nil at the start
}

// serve answers GET /stats with the report since the last reset.
func (p *reporter) serve(w http.ResponseWriter, _ *http.Request) {
	var now process
	now.read(p.src.machine())
	writeJSON(w, p.report(&now))
}

// serveReset begins a new measurement and answers 204.
func (p *reporter) serveReset(w http.ResponseWriter, _ *http.Request) {
	var now process
	now.reset(p.src.machine())
	p.reset(&now)
	w.WriteHeader(http.StatusNoContent)
}

// totals reads all figures of the lobby beside those of the process.
func (p *reporter) totals(now *process) (t totals) {
	s, schedule := &p.src.Lobby.Stats, p.src.Schedule
	t.at, t.cpu, t.mallocs, t.gcs = p.src.Clock(), now.cpu, now.mem.Mallocs, now.mem.NumGC
	if p.src.Socket != nil {
		t.socket = p.src.Socket()
	}
	t.skipped, t.overruns = schedule.Skipped.Load(), schedule.Overruns.Load()
	t.caughtUp = schedule.CaughtUp.Load()
	t.readStats(s)
	return t
}

// readStats reads the counts of a lobby or of a port.
func (t *totals) readStats(s *metrics.Stats) {
	// Backwards: Left is read before Joined, so that players is never negative.
	for i := range t.count {
		c := int(metrics.NumCounts) - 1 - i
		t.count[c] = s.Count[c].Load()
	}
	for i := range t.auth {
		t.auth[i] = s.AuthDrops[i].Load()
	}
	for i := range t.packets {
		t.packets[i] = s.PacketDrops[i].Load()
	}
	for i := range t.chat {
		t.chat[i] = s.ChatRefused[i].Load()
	}
	for i := range s.SlotMissing {
		t.missing = append(t.missing, s.SlotMissing[i].Load())
	}
}

// reset begins a new measurement.
func (p *reporter) reset(now *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = p.totals(now)
	p.src.Schedule.Reset()
	s := &p.src.Lobby.Stats
	s.Tick.Reset()
	for _, stage := range s.Stage {
		stage.Reset()
	}
}

// report sums up since the last reset.
func (p *reporter) report(of *process) metrics.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	src, since, now := p.src, &p.since, p.totals(of)
	s, schedule, status := &src.Lobby.Stats, src.Schedule, src.Status()
	tickCPU := metrics.SpreadOf(s.Tick.Summary(), time.Millisecond)
	r := metrics.Report{
		Type: metrics.ReportType, Version: metrics.ReportVersion,
		ElapsedMillis: millis(now.at - since.at), CPUMillis: millis(now.cpu - since.cpu),
		Rate: int(src.Rate), Interval: src.Interval, Workers: src.Workers, Players: now.players(),
		TickCPU: tickCPU, TickWall: metrics.SpreadOf(schedule.Wall.Summary(), time.Millisecond),
		Lateness:    metrics.SpreadOf(schedule.Lateness.Summary(), time.Millisecond),
		LatenessRaw: metrics.SpreadOf(schedule.LatenessRaw.Summary(), time.Millisecond),
		Rewind: metrics.NativeSpreadOf(s.Rewind,
			time.Millisecond), ViewClamp: metrics.NativeSpreadOf(s.ViewClamp, time.Millisecond),
		Stages: s.StageCosts(tickCPU.Mean), LoadLevel: schedule.Level().String(), LoadLevels: map[string]uint64{},
		TicksSkipped: now.skipped - since.skipped, Overruns: now.overruns - since.overruns,
		CaughtUp: now.caughtUp - since.caughtUp,
		Phase:    status.Phase.String(), Map: status.Map, Mode: status.Mode, Spectators: status.Spectators,
		Allocs: now.mallocs - since.mallocs, GCs: uint64(now.gcs - since.gcs), HeapBytes: of.mem.HeapAlloc,
		Hiccup: of.hiccup, Slowdown: of.slow,
		Counts: map[string]uint64{}, Drops: map[string]uint64{},
		Query: src.Query(),
	}
	if schedule.FullSpeed != nil {
		r.TickFullSpeed = new(metrics.SpreadOf(schedule.FullSpeed.Summary(), time.Millisecond))
	}
	if src.Socket != nil {
		r.SocketLost, r.Socket = new(now.socketLost(since)), new(now.socket)
	}
	for i := range s.LoadLevel {
		r.LoadLevels[overload.Level(i).String()] = s.LoadLevel[i].Load()
	}
	for i := range now.count {
		r.Counts[metrics.Count(i).String()] = now.count[i] - since.count[i]
	}
	now.addDrops(r.Drops, since)
	for slot, n := range now.missing {
		if since.missing != nil {
			n -= since.missing[slot]
		}
		if n > 0 {
			if r.SlotMissing == nil {
				r.SlotMissing = map[int]uint64{}
			}
			r.SlotMissing[slot] = n
		}
	}
	return r
}

// millis is a length of time in milliseconds, as all times of the JSON are.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// socketLost is what has grown of the datagrams that the socket has lost.
func (t *totals) socketLost(since *totals) uint64 { return t.socket.Lost() - since.socket.Lost() }

// addDrops adds what has grown of all that was refused and dropped, by reason.
func (t *totals) addDrops(to map[string]uint64, since *totals) {
	addDrops(to, netcode.DropNone, t.auth[:], since.auth[:])
	addDrops(to, packet.DropNone, t.packets[:], since.packets[:])
	addDrops(to, chat.RefusedNone, t.chat[:], since.chat[:])
}

// players is the number of players with a session, spectators included.
func (t *totals) players() int {
	n := &t.count
	return int(n[metrics.Joined] - n[metrics.Left] - n[metrics.TimedOut] - n[metrics.Disconnected])
}

// addDrops adds the growth of each reason above none, where there is any.
func addDrops[R interface {
	~int | ~uint8
	String() string
}](to map[string]uint64, none R, now, since []uint64) {
	for r := none + 1; int(r) < len(now); r++ {
		if n := now[r] - since[r]; n > 0 {
			to[r.String()] = n
		}
	}
}

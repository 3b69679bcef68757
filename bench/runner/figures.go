package runner

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/internal/perfevent"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// hostFigures are the figures of one server process, which hosts one or more lobbies.
type hostFigures struct {
	httpapi.HostReport
	resident uint64            // resident memory in bytes
	events   *perfevent.Counts // perf events of the process; nil: not counted
}

// newStep builds a step from the figures of the servers and of the swarm. Tick times and per-tick
// counts are those of one lobby. Cores, memory, inputs, skipped ticks and losses are sums over all
// lobbies. The step is void if the swarm's figures are void, or if the cells of the byte account do
// not add up to the received bytes.
func newStep(players, clients int, hosts []hostFigures, f *swarm.Figures,
	account *measure.Bytes) measure.Step {
	rep, n := merge(hosts)
	lobbies := float64(n)
	ticks := max(rep.ElapsedMillis/1000*float64(rep.Rate), 1) * lobbies
	perTick := func(c metrics.Count) float64 { return float64(rep.Counts[c.String()]) / ticks }
	sec := f.Elapsed.Seconds()
	kbps := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / sec / float64(clients) }
	s := measure.Step{
		Players: players, Duration: measure.Span{Duration: f.Elapsed}, Lobbies: n, Processes: len(hosts),
		TickCPUMillis: quantilesOf(rep.TickCPU), TickWallMillis: quantilesOf(rep.TickWall),
		LatenessMillis: quantilesOf(rep.Lateness), LatenessRaw: quantilesOf(rep.LatenessRaw),
		SwarmLateness: millis(f.Late), SwarmRaw: millis(f.Played),
		ServerCores: rep.CPUMillis / rep.ElapsedMillis, MemoryBytes: float64(rep.HeapBytes),
		KbpsDownPerClient: kbps(f.BytesDown), KbpsUpPerClient: kbps(f.BytesUp),
		SnapshotAgeMillis: millis(f.Age), RTTMillis: millis(f.RTT),
		DatagramsInPerTick: perTick(metrics.Received), DatagramsOutPerTick: perTick(metrics.Sent),
		CommandsPerTick: perTick(metrics.InputsUsed), SnapshotsPerTick: perTick(metrics.Snapshots),
		InputsExpected: rep.Counts[metrics.InputsUsed.String()] + rep.Counts[metrics.InputsMissing.String()],
		InputsLost:     lostInputs(hosts, f.LateOf),
		InputsLate:     f.LateTicks,
		DatagramsLost:  socketLost(hosts), TicksSkipped: rep.TicksSkipped,
		AllocsPerTick: float64(rep.Allocs) / ticks, GCs: rep.GCs,
		SwarmCores: f.CPU.Seconds() / sec, SwarmLate: f.LatePasses, VoidReason: f.Void(),
	}
	if k := f.RunDelay; k.Known {
		s.SwarmCorrected = millis(f.StealCorrected)
		s.SwarmRunDelay = &measure.RunDelay{Millis: float64(k.All) / 1e6, Bursts: k.Bursts,
			LongestMillis: float64(k.Longest) / 1e6}
	}
	if rep.Hiccup != nil {
		s.HiccupMillis = quantilesOf(*rep.Hiccup)
	}
	if rep.Slowdown != nil && rep.TickFullSpeed != nil {
		s.Slowdown, s.FullSpeedMillis = quantilesOf(*rep.Slowdown), quantilesOf(*rep.TickFullSpeed)
	}
	for _, h := range hosts {
		for _, loop := range h.Loops {
			s.LoopCallMillis = append(s.LoopCallMillis, quantilesOf(loop.Call))
		}
	}
	for _, st := range rep.Stages {
		s.StageCPUMillis = append(s.StageCPUMillis, measure.Stage{Name: st.Name, Mean: st.Mean, P99: st.P99})
	}
	s.Traffic = trafficOf(&rep, hosts, n, clients)
	s.Events = events(hosts, players, ticks/lobbies)
	s.Bytes = account
	if err := s.Bytes.Check(); err != nil && s.VoidReason == "" {
		s.VoidReason, s.Invalid = err.Error(), true
	}
	s.Void = s.VoidReason != ""
	return s
}

// Account returns the byte account of the swarm's sampled clients: the bits that they received, by
// component, field and reason.
func Account(f *swarm.Figures) *measure.Bytes {
	b := &measure.Bytes{Clients: f.Sampled - f.SampledRefused, Duration: measure.Span{Duration: f.Elapsed}, Datagrams: f.SampledDatagrams,
		Received: f.SampledBytes}
	for _, c := range f.Meter.Cells(nil) {
		b.Cells = append(b.Cells, measure.Cell{Component: c.Component, Field: c.Field, Reason: c.Reason,
			Bits: c.Bits})
	}
	return b
}

// lostInputs is the number of ticks that the servers played without a command that the swarm had sent
// in time. A player's missing commands are not counted up to the number that the swarm sent late of
// that same player. Lobby n is on host n modulo their number.
func lostInputs(hosts []hostFigures, late map[swarm.LobbySlot]uint64) (lost uint64) {
	for h := range hosts {
		for i := range hosts[h].Lobbies {
			for slot, missing := range hosts[h].Lobbies[i].SlotMissing {
				lost += missing - min(missing, late[swarm.NewLobbySlot(h+i*len(hosts), slot)])
			}
		}
	}
	return lost
}

// merge combines the reports of all lobbies and returns the number of lobbies. Counts are sums.
// Mean times are averages over the lobbies. Each quantile is the largest of any lobby. The figures
// of a process, which each of its lobbies reports, count once per process. hosts does not change.
func merge(hosts []hostFigures) (m metrics.Report, lobbies int) {
	for _, h := range hosts {
		for i, r := range h.Lobbies {
			if lobbies++; lobbies == 1 {
				m = r
				m.Counts, m.Stages = maps.Clone(m.Counts), slices.Clone(m.Stages)
				m.HeapBytes = 0
				for _, s := range []**metrics.Spread{&m.Hiccup, &m.Slowdown, &m.TickFullSpeed} {
					if *s != nil {
						*s = new(**s)
					}
				}
			} else {
				addLobby(&m, &r)
				if i == 0 {
					addProcess(&m, &r)
				}
			}
			if i == 0 {
				m.HeapBytes += max(r.HeapBytes, h.resident)
			}
		}
	}
	each := 1 / float64(lobbies)
	for _, s := range []*metrics.Spread{&m.TickCPU, &m.TickWall, &m.Lateness, &m.LatenessRaw} {
		s.Mean *= each
	}
	for i := range m.Stages {
		m.Stages[i].Mean *= each
	}
	if m.TickFullSpeed != nil {
		m.TickFullSpeed.Mean *= each
	}
	for _, s := range []*metrics.Spread{m.Hiccup, m.Slowdown} {
		if s != nil {
			s.Mean /= float64(len(hosts))
		}
	}
	addLoops(&m, hosts, lobbies)
	return m, lobbies
}

// socketLost is the number of datagrams that the servers' sockets lost. A worker's loop counts
// those of a shared port. The report of a lobby counts those of its own socket.
func socketLost(hosts []hostFigures) (n uint64) {
	for _, h := range hosts {
		for _, loop := range h.Loops {
			n += loop.SocketLost
		}
		for _, r := range h.Lobbies {
			if r.SocketLost != nil {
				n += *r.SocketLost
			}
		}
	}
	return n
}

// addLobby merges the figures of one lobby, r, into m. Figures of the process are left out.
func addLobby(m, r *metrics.Report) {
	m.TicksSkipped += r.TicksSkipped
	m.Overruns += r.Overruns
	m.ElapsedMillis = max(m.ElapsedMillis, r.ElapsedMillis)
	for name, n := range r.Counts {
		m.Counts[name] += n
	}
	worst(&m.TickCPU, r.TickCPU)
	worst(&m.TickWall, r.TickWall)
	worst(&m.Lateness, r.Lateness)
	worst(&m.LatenessRaw, r.LatenessRaw)
	worstKnown(m.TickFullSpeed, r.TickFullSpeed)
	for i := range m.Stages {
		worst(&m.Stages[i].Spread, r.Stages[i].Spread)
	}
}

// addProcess merges the figures of one process into m. r is the report of any of its lobbies.
func addProcess(m, r *metrics.Report) {
	m.CPUMillis += r.CPUMillis
	m.Allocs += r.Allocs
	m.GCs += r.GCs
	worstKnown(m.Hiccup, r.Hiccup)
	worstKnown(m.Slowdown, r.Slowdown)
}

// addLoops adds the CPU time of the workers' loops to the tick and stage times. A loop receives,
// opens and sends for all lobbies of its worker. Its time is divided by the ticks of all lobbies,
// and the quotient is added to the mean and to each quantile.
func addLoops(m *metrics.Report, hosts []hostFigures, lobbies int) {
	ticks := m.ElapsedMillis / 1000 * float64(m.Rate) * float64(lobbies)
	if ticks <= 0 {
		return
	}
	shift := func(s *metrics.Spread, by float64) {
		s.P50, s.P95, s.P99, s.P999, s.Max, s.Mean = s.P50+by, s.P95+by, s.P99+by, s.P999+by, s.Max+by, s.Mean+by
	}
	for _, h := range hosts {
		for _, loop := range h.Loops {
			for i := range min(len(loop.Stages), len(m.Stages)) {
				each := loop.Stages[i].Mean * float64(loop.Calls) / ticks
				shift(&m.Stages[i].Spread, each)
				shift(&m.TickCPU, each)
				shift(&m.TickWall, each)
			}
		}
	}
}

// worstKnown is worst for spreads that were measured, nil for others.
func worstKnown(s, with *metrics.Spread) {
	if s != nil && with != nil {
		worst(s, *with)
	}
}

// worst merges a spread into s. It keeps the larger value of each quantile, and adds the means.
func worst(s *metrics.Spread, with metrics.Spread) {
	s.P50, s.P95, s.P99 = max(s.P50, with.P50), max(s.P95, with.P95), max(s.P99, with.P99)
	s.P999, s.Max = max(s.P999, with.P999), max(s.Max, with.Max)
	s.Mean += with.Mean
}

// ResidentBytes is the resident memory of a process. It is 0 where /proc does not report it.
func ResidentBytes(pid int) uint64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kB << 10
		}
	}
	return 0
}

// quantilesOf converts a server's spread.
func quantilesOf(s metrics.Spread) measure.Quantiles {
	return measure.Quantiles{P50: s.P50, P95: s.P95, P99: s.P99, P999: s.P999, Max: s.Max, Mean: s.Mean}
}

// millis returns the quantiles and the mean of a histogram of nanoseconds, in milliseconds.
func millis(h *meter.Histogram) measure.Quantiles {
	return quantilesOf(metrics.SpreadOf(h.Summary(), time.Millisecond))
}

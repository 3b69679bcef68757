package simbench

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// BenchmarkBudget measures snapshots under a byte limit: lobbies of the scenario "mobile", on its
// links and on clean ones. One iteration is a tick. Beside the CPU time of the snapshot stage by
// snapshot sent it reports the bytes that a client gets and, from the clients that decode all rows,
// the age of players' rows within the newest snapshot.
func BenchmarkBudget(b *testing.B) {
	const players = 290
	for _, link := range []string{"mobile", "clean"} {
		b.Run(fmt.Sprintf("link=%s/players=%d", link, players), func(b *testing.B) {
			m := budgetMatch(b, link, players)
			m.bench(b)
		})
	}
}

// keptBudget is the match of the benchmark that runs: to join it takes longer than to measure it.
var keptBudget struct {
	name string
	*budgetBench
}

// budgetBench is a match of limited clients and the ages of the rows that they hold.
type budgetBench struct {
	*Match
	spent  time.Duration
	last   []map[int]tick.Tick // by client that decodes all, by slot: newest row
	newest []tick.Tick
	ages   []int // ticks
}

// budgetMatch plays a match until the burst of joins is over.
func budgetMatch(b *testing.B, link string, players int) *budgetBench {
	if keptBudget.name == b.Name() {
		return keptBudget.budgetBench
	}
	s, _ := scenario.Named("mobile")
	s.Network.Link = link
	s = s.At(players)
	m := &budgetBench{}
	var err error
	m.Match, err = NewMatch(s, Options{
		Lobby: func(c *server.Config) { c.CPU = clock.ThreadCPU },
		Around: func(tick func() error) error {
			from := clock.ThreadCPU()
			err := tick()
			m.spent += clock.ThreadCPU() - from
			return err
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for range s.Play.Full {
		m.last, m.newest = append(m.last, map[int]tick.Tick{}), append(m.newest, 0)
	}
	for range 420 {
		if err := m.Step(); err != nil {
			b.Fatal(err)
		}
	}
	keptBudget.name, keptBudget.budgetBench = b.Name(), m
	return m
}

// observe notes the ages of rows in snapshots that have arrived.
func (m *budgetBench) observe() {
	var row [netstate.PublicFields]int32
	for i, last := range m.last {
		c := m.Clients[i]
		at := c.Newest()
		f := m.Lobby.Frame(at)
		if at == m.newest[i] || f == nil {
			continue
		}
		m.newest[i] = at
		for slot := range f.Slots() {
			switch id, ok := c.Row(at, slot, row[:]); {
			case f.ID(slot) == 0:
				delete(last, slot)
			case ok && id != 0:
				last[slot] = at
			}
			if t, ok := last[slot]; ok {
				m.ages = append(m.ages, int(at-t))
			}
		}
	}
}

func (m *budgetBench) bench(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &m.Lobby.Stats
	s.Stage[metrics.StageSnapshot].Reset()
	from := m.Now()
	m.spent, m.ages = 0, m.ages[:0]
	count := func(c metrics.Count) float64 { return float64(s.Count[c].Load()) }
	bytes, snapshots := count(metrics.BytesOut), count(metrics.Snapshots)
	b.ResetTimer()
	for range b.N {
		if err := m.Step(); err != nil {
			b.Fatal(err)
		}
		m.observe()
	}
	b.StopTimer()
	sent := max(1, count(metrics.Snapshots)-snapshots)
	seconds := (m.Now() - from).Seconds()
	b.ReportMetric(s.Stage[metrics.StageSnapshot].Mean()*float64(b.N)/sent, "ns/snapshot")
	b.ReportMetric(float64(m.spent)/float64(b.N), "cpu-ns/tick")
	b.ReportMetric((count(metrics.BytesOut)-bytes)/seconds/float64(len(m.Clients)), "B/client/s")
	b.ReportMetric(0, "ns/op")
	if len(m.ages) > 0 {
		slices.Sort(m.ages)
		sum := 0
		for _, age := range m.ages {
			sum += age
		}
		nanos := 1e9 / float64(m.s.Rates.TickHz)
		b.ReportMetric(float64(sum)/float64(len(m.ages))*nanos, "age-ns")
		b.ReportMetric(float64(m.ages[len(m.ages)*99/100])*nanos, "age-p99-ns")
		rows := 0
		for _, last := range m.last {
			rows += len(last)
		}
		b.ReportMetric(float64(rows)/float64(len(m.last)), "rows/client")
	}
}

package lobbysim

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// gunner walks about and, if it is one that shoots, fires a rocket into the sky whenever it can.
type gunner struct {
	swarm.Brain
	fires bool
}

func (b *gunner) Decide(s *swarm.Observation) client.Intent {
	in := b.Brain.Decide(s)
	in.Buttons &^= sim.Fire | sim.Throw | sim.Melee | sim.Rocket
	if b.fires {
		in.Pitch, in.Buttons = geom.Angle(0x2000), in.Buttons|sim.Throw
	}
	return in
}

// BenchmarkObjects measures a whole tick of 1000 clients, and the bytes that one of them gets about
// objects, without projectiles and with about 200 rockets in flight. Of the stages only capture and
// snapshot handle objects; the rest of the difference is the match.
func BenchmarkObjects(b *testing.B) {
	const players = 1000
	for _, live := range []int{0, 200} {
		var lobby *firingLobby // all runs of the benchmark share it
		b.Run(fmt.Sprintf("clients=%d/projectiles=%d", players, live), func(b *testing.B) {
			if lobby == nil {
				lobby = newFiringLobby(b, players, live)
			}
			lobby.bench(b)
		})
	}
}

// firingLobby is a lobby with a number of projectiles in flight, and the CPU time of its ticks.
type firingLobby struct {
	*Sim
	spent time.Duration
}

// newFiringLobby plays until as many projectiles land as leave.
func newFiringLobby(b *testing.B, n, live int) *firingLobby {
	var l firingLobby
	ground := arena.Generate(n, 11)
	cfg := server.Config{Arena: ground, ArenaName: "test", Players: n,
		Rules: sim.Rules{Seed: 11}, CPU: clock.ThreadCPU,
		Relevance: server.RelevanceGrid, ViewDistance: 100}
	gunners := live * 30 / 200 // a rocket a second, 6.7 s in the air
	var err error
	l.Sim, err = New(Config{
		Clients: n, Seed: 11, Decode: client.DecodeOwn, Lobby: cfg,
		Link: impair.Profile{Delay: 15 * time.Millisecond, Jitter: 5 * time.Millisecond},
		Brain: func(i int) swarm.Brain {
			return &gunner{Brain: swarm.NewBot(11, i), fires: i%max(1, n/max(1, gunners)) == 0 && live > 0}
		},
		WrapTick: func(tick func() error) error {
			from := clock.ThreadCPU()
			err := tick()
			l.spent += clock.ThreadCPU() - from
			return err
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	for range 600 {
		if err := l.Step(); err != nil {
			b.Fatal(err)
		}
	}
	return &l
}

func (y *firingLobby) bench(b *testing.B) {
	account := client.NewMeter()
	y.Clients[0].Meter = account
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &y.Lobby.Stats
	s.Stage[metrics.StageSnapshot].Reset()
	s.Stage[metrics.StageCapture].Reset()
	y.spent = 0
	from, flying := y.Now(), 0
	b.ResetTimer()
	for range b.N {
		if err := y.Step(); err != nil {
			b.Fatal(err)
		}
		flying += len(y.Lobby.Match().Objects().Projectiles)
	}
	b.StopTimer()
	objectBits, all := uint64(0), account.Total()
	for _, c := range account.Cells(nil) {
		if c.Component == "object" || c.Field == "objects" {
			objectBits += c.Bits
		}
	}
	seconds := (y.Now() - from).Seconds()
	b.ReportMetric(float64(y.spent)/float64(b.N), "cpu-ns/tick")
	b.ReportMetric(s.Stage[metrics.StageSnapshot].Mean(), "snapshot-ns/tick")
	b.ReportMetric(s.Stage[metrics.StageCapture].Mean(), "capture-ns/tick")
	b.ReportMetric(float64(flying)/float64(b.N), "projectiles")
	b.ReportMetric(float64(objectBits)/8/seconds, "B/client/s")
	b.ReportMetric(float64(all)/8/seconds, "total-B/client/s")
	b.ReportMetric(0, "ns/op")
}

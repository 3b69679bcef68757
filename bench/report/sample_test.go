package report

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
	"github.com/tickrate/tickrate/bench/slo"
)

// samplePlan runs a search over a made-up machine that costs what ours roughly does; the numbers
// are for looking at.
func samplePlan(most int) Plan {
	rng := rand.New(rand.NewPCG(7, 7))
	jitter := func() float64 { return 1 + 0.04*(2*rng.Float64()-1) }
	curves := []measure.Curve{
		{Name: "receive", A: 20, B: 0.71}, {Name: "open", A: 4, B: 0.26}, {Name: "commands", A: 5, B: 0.15},
		{Name: "move", A: 8, B: 0.28}, {Name: "fire", A: 3, B: 0.12},
		{Name: "capture", A: 4, B: 0.05}, {Name: "snapshot", A: 10, B: 0.2, C: 0.0003},
		{Name: "seal", A: 6, B: 0.11, C: 0.0002}, {Name: "send", A: 15, B: 0.82, C: 0.0011},
	}
	find := &search.Search{}
	p := Plan{
		Machine: measure.Machine{CPU: "AMD EPYC", Cores: 2, OS: "linux", Arch: "amd64", Kernel: "6.1.0",
			Go: "go1.26.8"},
		Commit: "97abe27c0ffee0123456789abcdef0123456789a", Seed: 20261121,
		Started: time.Date(2026, 11, 21, 6, 30, 0, 0, time.UTC), Took: measure.Span{Duration: 3*time.Minute + 12*time.Second},
		Command:  "tickrate plan --seed 20261121 --trace qw_4on4_dm2_8p.csv.gz --out report",
		Scenario: "one-lobby",
		Movement: "recorded play: qw_4on4_dm2_8p.csv.gz, resampled and shifted copies",
		Config: []measure.Setting{
			{Name: "Rates", Value: "60 Hz simulation, 20 Hz snapshots"}, {Name: "Arena",
				Value: "generated for 1,500 players"},
			{Name: "Back end", Value: "gnet, recvmmsg and sendmmsg"}, {Name: "Server",
				Value: "GOMAXPROCS=1, GOGC=off"},
		},
	}
	voided := false
	p.SLO = slo.Default().Level()
	for i := 0; i < most; i++ {
		players, ok := find.Next(0)
		if !ok {
			break
		}
		s := measure.Step{Players: players, Duration: measure.Span{Duration: 8 * time.Second},
			InputsExpected: uint64(players * 480), ServerCores: 0.02}
		for _, c := range curves {
			ms := c.At(players, players) * jitter() / 1000
			s.StageCPUMillis = append(s.StageCPUMillis, measure.Stage{Name: c.Name, Mean: ms, P99: 1.7 * ms})
			s.TickCPUMillis.Mean += ms
		}
		s.DatagramsInPerTick, s.DatagramsOutPerTick = float64(players)*jitter(),
			float64(players)*(0.33+float64(players)/1500)*jitter()
		s.CommandsPerTick, s.SnapshotsPerTick = float64(players), float64(players)/3
		m := s.TickCPUMillis.Mean
		s.TickCPUMillis = measure.Quantiles{P50: 0.72 * m, P99: 2.1 * m * jitter(), P999: 2.6 * m,
			Max: 3.1 * m, Mean: m}
		s.Slowdown = measure.Quantiles{P50: 1.003, P95: 1.02, P99: 1.5, P999: 1.7, Max: 2.1, Mean: 1.02}
		s.FullSpeedMillis = s.TickCPUMillis.Times(0.98)
		s.TickWallMillis = measure.Quantiles{P50: 0.74 * m, P99: 2.2 * m * jitter(), P999: 3.6 * m,
			Max: 6 * m, Mean: 1.02 * m}
		s.LatenessMillis = measure.Quantiles{P50: 0.0011, P99: 0.046 * jitter(), P999: 0.31, Max: 4.1, Mean: 0.003}
		s.LatenessRaw, s.HiccupMillis = measure.Quantiles{P50: 0.0011, P99: 0.041, P999: 0.29, Max: 3.9, Mean: 0.003},
			measure.Quantiles{P50: 0.052, P99: 0.061, P999: 0.24, Max: 2.1, Mean: 0.055}
		s.SwarmRaw, s.SwarmLateness, s.SwarmHiccup = s.LatenessRaw, s.LatenessMillis, s.HiccupMillis
		s.ServerCores += m * 60 / 1000
		s.KbpsDownPerClient = (9 + 0.38*float64(players)) * jitter()
		s.KbpsUpPerClient = 31 * jitter()
		s.SnapshotAgeMillis = measure.Quantiles{P50: 51 + m*jitter(), P99: 57 + 6*m*jitter(), P999: 88,
			Max: 110, Mean: 52}
		s.RTTMillis = measure.Quantiles{P50: 0.4 + m/2, P99: 1 + 2*m, P999: 9, Max: 22, Mean: 1}
		s.Bytes = sampleBytes(s)
		if i == 4 && !voided {
			voided, s.Void, s.SwarmLate = true, true, 312
			s.VoidReason = "the swarm sent 312 datagrams more than 4 ms late"
		}
		p.Steps = append(p.Steps, find.Record(s))
	}
	p.Codecs = &measure.Codecs{Players: 64, Seconds: 5,
		Each: []measure.Codec{{Name: "huffman", BytesPerSecond: 6120, TickMillis: 0.21},
			{Name: "range", BytesPerSecond: 6010, TickMillis: 0.246}, {Name: "stored", BytesPerSecond: 21400,
				TickMillis: 0.197}}}
	p.Knee = find.Knee()
	return p
}

// sampleBytes is an account of what four of the clients of a step received.
func sampleBytes(s measure.Step) *measure.Bytes {
	b := &measure.Bytes{Clients: 4, Duration: s.Duration, Datagrams: uint64(640 + s.Players),
		Received: uint64(s.KbpsDownPerClient * 125 * 4 * s.Duration.Seconds())}
	left := 8 * b.Received
	for _, c := range []struct {
		component, field, reason string
		permille                 uint64
	}{
		{"player", "x", "update", 160}, {"player", "z", "update", 158}, {"player", "yaw", "update", 185},
		{"player", "pitch", "update", 120}, {"player", "y", "update", 40}, {"player", "shots", "update", 6},
		{"player", "health", "update", 8}, {"player", "state", "update", 2},
		{"player", "", "mask", 110}, {"player", "", "same", 14}, {"player", "", "align", 21},
		{"player", "", "head", 9}, {"player", "x", "spawn", 3},
		{"owner", "pos.x", "update", 6}, {"owner", "", "mask", 9},
		{"seal", "tag", "seal", 45}, {"seal", "prefix", "seal", 3},
		{"packet", "acks", "header", 30}, {"packet", "clock", "header", 12},
		{"snapshot", "tick", "head", 12}, {"reliable", "body", "message", 9},
	} {
		bits := 8 * b.Received * c.permille / 1000
		left -= bits
		b.Cells = append(b.Cells, measure.Cell{Component: c.component, Field: c.field, Reason: c.reason,
			Bits: bits})
	}
	b.Cells = append(b.Cells, measure.Cell{Component: "session", Field: "keep-alive", Reason: "handshake",
		Bits: left})
	return b
}

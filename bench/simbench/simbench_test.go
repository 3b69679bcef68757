package simbench

import (
	"bytes"
	"context"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio"
)

// small is a scenario of two lobbies that takes a moment.
func small() scenario.Scenario {
	s := scenario.Default()
	s.Lobby.Players, s.Lobby.Lobbies, s.Lobby.Spectators, s.Play.Arrival = 6, 2, 1,
		scenario.Duration(200*time.Millisecond)
	s.Measure.Warmup, s.Measure.Duration = scenario.Duration(600*time.Millisecond),
		scenario.Duration(500*time.Millisecond)
	return s
}

// Every stage is measured, bytes and datagrams are those of the recorded traffic, and the same seed
// is the same match.
func TestSimulate(t *testing.T) {
	s := small()
	windows := Windows(s)[:1]
	all, err := Simulate(t.Context(), s, Options{}, windows, 2)
	if err != nil {
		t.Fatal(err)
	}
	sim := all[0]
	if len(sim.Traffic) != 1 || sim.Traffic[0].Clients != 14 || sim.Traffic[0].ticks() != 30 {
		t.Fatalf("traffic of %d processes", len(sim.Traffic))
	}
	in, sent, down := 0, 0, 0
	for _, traffic := range sim.Traffic {
		for _, r := range traffic.Rounds {
			in, sent = in+len(r.In), sent+len(r.Out)
			out := len(r.Out)
			for _, p := range r.Out {
				down += int(p.Bytes)
			}
			for _, n := range r.Sends {
				out -= n
			}
			if out != 0 {
				t.Fatalf("%d datagrams are in no batch", out)
			}
		}
	}
	if in < 30*14*9/10 || sent < 10*14*9/10 {
		t.Errorf("%d datagrams in, %d out of 14 clients in 30 ticks", in, sent)
	}
	// Of the first repeat.
	if rate := float64(down) / 14 / 0.5; math.Abs(rate/sim.BytesDown.Mean-1) > 0.2 {
		t.Errorf("%g B/s to a client in the traffic, %g counted", rate, sim.BytesDown.Mean)
	}
	sum := 0.0
	for _, st := range sim.Stages {
		sum += st.Mean
	}
	if !(sim.Tick.Mean > 1) || math.Abs(sum/sim.Tick.Mean-1) > 0.01 || !(sim.Tail >= 1) {
		t.Errorf("a tick takes %+v, its stages %g, tail %g", sim.Tick, sum, sim.Tail)
	}
	again, err := Simulate(t.Context(), s, Options{}, windows, 2)
	if err != nil || again[0].BytesDown != sim.BytesDown || again[0].DatagramsIn != sim.DatagramsIn {
		t.Errorf("%+v, again %+v, %v", sim.BytesDown, again[0].BytesDown, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Simulate(stopped, s, Options{}, windows, 1); err == nil {
		t.Error("an interrupt is no error")
	}
}

// Traffic goes over real sockets as it was recorded.
func TestTrafficOverSockets(t *testing.T) {
	period := time.Second / 60
	traffic := Traffic{Clients: 3, Gaps: []time.Duration{period / 8, period - period/8}}
	for k := range 60 {
		first, second := Round{In: []Packet{{0, 50}}}, Round{In: []Packet{{1, 60}, {2, 70}}}
		if k%3 == 0 {
			second.Out, second.Sends = []Packet{{2, 300}, {1, 200}, {0, 100}}, []int{1, 2}
		}
		traffic.Rounds = append(traffic.Rounds, first, second)
	}
	var file bytes.Buffer
	if err := traffic.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := ReadTraffic(&file)
	if err != nil || len(read.Rounds) != 120 || read.Rounds[7].Out[0] != (Packet{2, 300}) {
		t.Fatalf("%v", err)
	}
	for try := 0; ; try++ {
		cost := overSockets(t, read)
		if cost.Ticks != 60 || cost.DatagramsOut != 1 || cost.SendMillis <= 0 || cost.ReceiveMillis <= 0 ||
			cost.BesideMillis <= 0 {
			t.Fatalf("%+v", cost)
		}
		if math.Abs(cost.DatagramsIn-3) <= 0.6 {
			return
		}
		if try == 4 { // a sender that the machine keeps from its schedule leaves datagrams out
			t.Fatalf("%+v", cost)
		}
	}
}

// overSockets sends and serves traffic on a socket of its own.
func overSockets(t *testing.T, traffic Traffic) SocketCost {
	t.Helper()
	conn, err := netio.ListenGnet("127.0.0.1:0", netio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	started, sent := make(chan struct{}), make(chan error, 1)
	go func() {
		sent <- SendTraffic(ctx, []netip.AddrPort{conn.LocalAddr()}, []Traffic{traffic}, func() bool {
			select {
			case <-started:
				return true
			default:
				return false
			}
		})
	}()
	cost, err := ServeTraffic(t.Context(), conn, traffic, 100*time.Microsecond,
		func() { close(started) })
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return cost
}

// A process pays its sockets and what is beside its ticks once, however many lobbies it has: the same
// sockets in a process for each lobby are paid as often.
func TestCostOfAProcessIsPaidOnce(t *testing.T) {
	s := small()
	sim := Simulated{Window: Window{Name: "opening"}, Tick: measure.Estimate{Mean: 100, StdErr: 2},
		Tail: 1.5, DatagramsIn: 7, DatagramsOut: 2,
		BytesDown: measure.Estimate{Mean: 1000}, Stages: make([]StageEstimate, 30)}
	socket := SocketCost{ReceiveMillis: 0.02, SendMillis: 0.03, BesideMillis: 0.5}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	for lobbies := 1; lobbies <= 64; lobbies *= 4 {
		s.Lobby.Lobbies, s.Lobby.ProcessPerLobby = lobbies, false
		n := float64(lobbies)
		c := NewCost(s, sim, []SocketCost{socket})
		// 0.55 ms in each of 60 ticks for the process, 0.1 ms for each lobby.
		if !near(c.Processes, 0.033) || !near(c.Lobbies, 0.006*n) || !near(c.ServerCores, 0.033+0.006*n) ||
			!near(c.TickMillis.Mean, 0.1+0.05/n) {
			t.Errorf("%d lobbies in a process: %+v", lobbies, c)
		}
		c = NewCost(s, sim, slices.Repeat([]SocketCost{socket}, lobbies))
		if !near(c.Processes, 0.033*n) || !near(c.Lobbies, 0.006*n) || !near(c.TickMillis.Mean, 0.15) {
			t.Errorf("%d processes: %+v", lobbies, c)
		}
		packets := 2 * 60 * n
		if want := (1000*7*n + measure.OverIPv4*packets) * 8 / 1e6; !near(c.PacketsOut, packets) ||
			!near(c.EgressMbps, want) {
			t.Errorf("%g Mbit/s, want %g", c.EgressMbps, want)
		}
	}
}

func TestHosts(t *testing.T) {
	u := Usage{Lobbies: 2, Players: 200, Cores: 0.5, EgressMbps: 20, MeanMbps: 10, Packets: 20000,
		MemoryBytes: 200e6}
	prices := Prices{HostHour: 1, EgressGB: 0.1, HostCores: 8, HostMemoryGB: 16, HostMbps: 1000,
		HostPackets: 1e6}
	d := Demand{Concurrent: 10000, Headroom: 0.25, CoreShare: 0.6}
	h, err := u.Hosts(prices, d)
	// CPU: 8*0.6*0.75/0.25 = 14.4 lobbies; egress 75, packets 75, memory 120.
	if err != nil || h.LobbiesPerHost != 14 || h.PlayersPerHost != 1400 || h.Binding != "cpu" ||
		h.Hosts != 8 || h.PlayersPerCore != 240 {
		t.Errorf("%+v, %v", h, err)
	}
	// 10000 players send 500 Mbit/s on average: 62.5 MB/s, 164,250 GB a month.
	if h.HostsMonth != 8*730 || math.Abs(h.EgressMonth-16425) > 1e-6 ||
		math.Abs(h.PlayerHour-(8*730+16425)/730./10000) > 1e-9 {
		t.Errorf("%+v", h)
	}
	u.Cores = 20
	if _, err := u.Hosts(prices, d); err == nil {
		t.Error("a lobby that no host carries has hosts")
	}
	if key, _ := (Prices{HostCores: 8, HostMemoryGB: 16, HostMbps: math.NaN(),
		HostPackets: 1}).Check(); key != "host_mbps" {
		t.Errorf("%q is wrong", key)
	}
}

// All codecs are played, the scenario's first; range takes fewer bytes than Huffman, zstd more, and
// stored rows many more.
func TestCompareCodecs(t *testing.T) {
	if testing.Short() {
		t.Skip("plays fifteen lobbies")
	}
	s := scenario.Default()
	s.Rates.TickHz, s.Network.Codec = 30, "range"
	all, err := CompareCodecs(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	bytes := map[string]float64{}
	for _, c := range all.Each {
		bytes[c.Name] = c.BytesPerSecond
		if c.TickMillis <= 0 {
			t.Errorf("%+v", c)
		}
	}
	if len(all.Each) != int(schema.Codecs) || all.Each[0].Name != "range" ||
		!(0 < bytes["range"] && bytes["range"] < bytes["huffman"] && bytes["huffman"] < bytes["zstd"] &&
			bytes["zstd"] < bytes["stored"]) {
		t.Errorf("%+v", all.Each)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if all, err := CompareCodecs(stopped, s); all != nil || err != nil {
		t.Errorf("interrupted: %+v, %v", all, err)
	}
}

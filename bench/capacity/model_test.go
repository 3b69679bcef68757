package capacity

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// planted is a lobby whose cost is known: laws with noise.
func planted(rng *rand.Rand, n, hz, every int, noise float64, held bool) Measurement {
	f := Facts{Scenario: "x", Lobbies: 1, PerLobby: n, TickHz: hz, SendEvery: every, Side: math.Sqrt(40 * float64(n)), Visible: float64(n - 1),
		Shots: 1.5 * float64(n) / float64(hz), Virtual: true, Codec: "huffman", Memory: 1e6 + 2e4*float64(n), Bursts: 0.15, Throws: 0.5}
	off := func(x float64) float64 { return x * math.Exp(noise*rng.NormFloat64()) }
	f.Bytes = off((50*parcels(f) + 4*f.Visible) / interval(f))
	f.Datagrams = parcels(f)/interval(f) + math.Floor(f.Bytes*interval(f)/parcelBytes)/interval(f)
	s := Step{Players: n, Facts: &f, TickCPUMillis: Quantiles{Mean: 1, P99: 1.5}, KbpsUpPerClient: 0.7 * float64(hz), StageCPUMicros: []Stage{
		{Name: "receive", Mean: off(1 + 0.8*float64(n))}, {Name: "combat", Mean: off(0.5 + 3*f.Shots)}, {Name: "snapshot", Mean: off(0.6*told(f) + 0.004*pairs(f))},
	}}
	return Measurement{Step: s, HeldOut: held}
}

func plantedSet(noise float64) Measurements {
	rng := rand.New(rand.NewPCG(3, 3))
	var m Measurements
	for _, n := range []int{10, 20, 40, 80, 160, 320} {
		for _, r := range [][2]int{{60, 3}, {128, 2}, {30, 1}} {
			m.Steps = append(m.Steps, planted(rng, n, r[0], r[1], noise, false))
		}
	}
	for _, n := range []int{15, 60, 250} {
		for _, r := range [][2]int{{60, 3}, {100, 3}, {60, 2}} {
			m.Steps = append(m.Steps, planted(rng, n, r[0], r[1], noise, true))
		}
	}
	return m
}

// judged fits a model to measurements and judges it on all of them.
func judged(t *testing.T, ms Measurements) (Model, []Verdict) {
	t.Helper()
	m, err := FitModel(ms)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.JudgeAll(ms)
	if err != nil {
		t.Fatal(err)
	}
	return m, all
}

// Laws that are there are found: what is held out, other rates among it, is predicted as well as the noise allows.
func TestModelFindsPlantedLaws(t *testing.T) {
	for _, c := range []struct{ noise, most float64 }{{0, 0.002}, {0.01, 0.03}} {
		ms := plantedSet(c.noise)
		m, all := judged(t, ms)
		if cpu, bytes, _, _ := Worst(all, true); cpu > c.most || bytes > c.most {
			t.Errorf("noise %g: worst error of what is held out: CPU %.4f, bytes %.4f", c.noise, cpu, bytes)
		}
		if m.Tail != 1.5 || !m.Virtual {
			t.Errorf("tail %g, virtual %v", m.Tail, m.Virtual)
		}
	}
}

// A file of measurements is written and read again as it was, and what is wrong with one is said with its line.
func TestMeasurementFiles(t *testing.T) {
	ms := plantedSet(0)
	raw, err := ms.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseMeasurements("m.json", raw)
	if err != nil || len(back.Steps) != len(ms.Steps) || !back.Steps[len(back.Steps)-1].HeldOut || *back.Steps[3].Facts != *ms.Steps[3].Facts {
		t.Fatalf("%d of %d steps came back, %v", len(back.Steps), len(ms.Steps), err)
	}
	for i, c := range []struct{ text, want string }{
		{"{\n\"version\": 1,\n oops}", "m.json:3: expected JSON: "},
		{"{\n\"version\": \"one\"}", "m.json:2: expected version to be of type int, got string"},
		{"{\"version\": 9}", "m.json:1: expected version 1"},
		{"{\"version\": 1, \"steps\": []}", "m.json: expected steps with facts"},
		{"{\"version\": 1, \"steps\": [{\"players\": 3}]}", "m.json: expected steps with facts"},
		{"", "m.json:1: expected JSON: "},
	} {
		_, err := ParseMeasurements("m.json", []byte(c.text))
		var wrong *FileError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
}

func FuzzMeasurements(f *testing.F) {
	raw, _ := plantedSet(0).Encode()
	f.Add(raw[:4000])
	f.Add([]byte(`{"version":1,"steps":[{"facts":{"players_per_lobby":1,"tick_hz":1,"send_every_ticks":1,"lobbies":1}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseMeasurements("m.json", raw)
		if err != nil || len(m.Steps) > 50 {
			return
		}
		if model, err := FitModel(m); err == nil {
			_, _ = model.JudgeAll(m)
		}
		_, _ = Gate(m, m)
	})
}

func TestPredictRefusesAndWarns(t *testing.T) {
	m, err := FitModel(plantedSet(0))
	if err != nil {
		t.Fatal(err)
	}
	f := *plantedSet(0).Steps[4].Facts
	if p, err := m.Predict(f); err != nil || len(p.Extrapolated) > 0 {
		t.Errorf("within: %v, %v", p.Extrapolated, err)
	}
	far := f
	far.PerLobby = 5000
	if p, _ := m.Predict(far); len(p.Extrapolated) == 0 || !strings.HasPrefix(p.Extrapolated[0], "players in a lobby: 5000, measured 10 to 320") {
		t.Errorf("beyond: %v", p.Extrapolated)
	}
	codec := f
	codec.Codec = "range"
	if _, err := m.Predict(codec); err == nil || !strings.Contains(err.Error(), `codec "range" was not measured`) {
		t.Errorf("another codec: %v", err)
	}
	walls := f
	walls.Walls = true
	if _, err := m.Predict(walls); err == nil {
		t.Error("houses were not measured, and are predicted")
	}
	budget := f
	budget.Cap = 1000
	if p, _ := m.Predict(budget); !p.Squeezed || p.KbpsDown != 8 || len(p.Extrapolated) < 2 {
		t.Errorf("budget: %+v", p)
	}
	budget.Cap = 1e9
	if p, _ := m.Predict(budget); p.Squeezed || !strings.Contains(strings.Join(p.Extrapolated, ""), "a byte budget: ") || strings.Contains(strings.Join(p.Extrapolated, ""), "flights wait") {
		t.Errorf("a budget that nobody uses up: %+v", p)
	}
	many := f
	many.Lobbies = 10
	one, _ := m.Predict(f)
	if p, _ := m.Predict(many); math.Abs(p.Cores/one.Cores-10) > 1e-9 || p.TickMicros != one.TickMicros || math.Abs(p.EgressMbps/one.EgressMbps-10) > 1e-9 {
		t.Errorf("ten lobbies: %+v, one: %+v", p, one)
	}
}

func TestCosts(t *testing.T) {
	p := Prediction{Facts: Facts{Lobbies: 2, PerLobby: 10}, TickMicros: 100, Tail: 1.5, Cores: 0.024, EgressMbps: 2, PacketsIn: 1000, PacketsOut: 1000, MemoryMB: 50}
	prices := Prices{Currency: "EUR", HostHour: 0.5, EgressGB: 0.01, HostCores: 4, HostMemoryGB: 8, HostMbps: 1000, HostPackets: 1e6}
	c, err := p.Costs(Level{}, prices, 5000, 0.5)
	// cpu: 4 cores x 0.6 x 0.5 / 0.012 = 100 lobbies; egress 500; packets 500; memory 160.
	if err != nil || c.Binding != "cpu" || c.LobbiesPerHost != 100 || c.PlayersPerHost != 1000 || c.Hosts != 5 || math.Abs(c.PlayersPerCore-500) > 1e-9 {
		t.Errorf("%+v, %v", c, err)
	}
	// 500 Mbit/s are 62.5 MB/s, 164250 GB a month; five hosts 5 x 365.
	if math.Abs(c.HostsMonth-1825) > 1e-6 || math.Abs(c.EgressMonth-1642.5) > 1e-6 || math.Abs(c.PlayerHour-(1825+1642.5)/730/5000) > 1e-12 {
		t.Errorf("%+v", c)
	}
	// Traffic is paid for as in the long run; hosts must carry what begins.
	late := p
	late.LongRun = &Prediction{EgressMbps: 1.5}
	if l, err := late.Costs(Level{}, prices, 5000, 0.5); err != nil || math.Abs(l.EgressMonth-0.75*c.EgressMonth) > 1e-6 || l.Hosts != c.Hosts || l.EgressMbps != c.EgressMbps ||
		math.Abs(l.LongRunMbps-375) > 1e-9 || c.LongRunMbps != 500 {
		t.Errorf("%+v, %v, without a long run %+v", l, err, c)
	}
	late.LongRun = &Prediction{TickMicros: 150, Cores: 0.036, EgressMbps: 4} // whose players must find each other first
	if l, err := late.Costs(Level{}, prices, 5000, 0.5); err != nil || l.LobbiesPerHost != 66 || l.EgressMbps != 1000 || math.Abs(l.EgressMonth-2*c.EgressMonth) > 1e-6 {
		t.Errorf("%+v, %v: a long run that is dearer", l, err)
	}
	for _, x := range []struct {
		change func(*Prices, *Prediction)
		want   string
	}{
		{func(q *Prices, _ *Prediction) { q.HostMbps = 100 }, "egress"}, {func(q *Prices, _ *Prediction) { q.HostPackets = 1e5 }, "packets"},
		{func(q *Prices, _ *Prediction) { q.HostMemoryGB = 4 }, "memory"},
	} {
		q, r := prices, p
		x.change(&q, &r)
		if c, err := r.Costs(Level{}, q, 5000, 0.5); err != nil || c.Binding != x.want {
			t.Errorf("%s binds: %+v, %v", x.want, c, err)
		}
	}
	big := p
	big.TickMicros = 9000
	if _, err := big.Costs(Level{}, prices, 5000, 0.5); err == nil || !strings.Contains(err.Error(), "does not hold the level") {
		t.Errorf("a tick of 13.5 ms: %v", err)
	}
}

// Timings that are not sure count for less: one lobby in four that is timed 30 % too long, and says that it is sure to 20 %, leaves laws where they are.
func TestUnsureTimingsCountForLess(t *testing.T) {
	off := func(says float64) float64 {
		ms := plantedSet(0)
		for i := 1; i < len(ms.Steps); i += 4 {
			s := &ms.Steps[i]
			if s.HeldOut {
				continue
			}
			f := *s.Facts
			f.TimeUnsure = says
			s.Timed = &f
			for j := range s.StageCPUMicros {
				s.StageCPUMicros[j].Mean *= 1.3
			}
		}
		_, all := judged(t, ms)
		worst, _, _, _ := Worst(all, true)
		return worst
	}
	if sure, unsure := off(0), off(0.2); unsure > 0.02 || sure < 5*unsure {
		t.Errorf("held out by %.4f where a quarter is off and says so, by %.4f where it does not", unsure, sure)
	}
}

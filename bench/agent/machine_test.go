package agent

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
)

const (
	second = int64(time.Second)
	milli  = int64(time.Millisecond)
	period = time.Second / 60
)

// world is a coordinator and its agents in virtual time: the machines alone, with messages that
// take a random time each way.
type world struct {
	t      *testing.T
	now    int64
	rng    *rand.Rand
	c      *Coordinator
	agents map[string]*virtual
	flying []flight
}

// virtual is an agent whose players are figures.
type virtual struct {
	*Agent
	ahead   int64         // of its clock
	dead    bool          // neither receives nor sends
	late    time.Duration // of all of its sends
	report  int64         // instant at which its figures are due
	opened  int           // steps
	closed  int
	started []int64 // instants of the common start, by its clock
}

type flight struct {
	at  int64
	to  string // agent; "" the coordinator
	msg Message
}

func newWorld(t *testing.T, names ...string) *world {
	w := &world{t: t, now: 1e18, rng: rand.New(rand.NewPCG(5, 6)), agents: map[string]*virtual{},
		c: NewCoordinator(Config{Run: "run", Build: "b1"})}
	for _, name := range names {
		w.agents[name] = &virtual{Agent: NewAgent(name, "b1")}
	}
	return w
}

// send lets messages fly, as JSON, for up to 2 ms.
func (w *world) send(to func(Message) string, out []Message) {
	for _, m := range out {
		raw, err := json.Marshal(&m)
		if err != nil {
			w.t.Fatal(err)
		}
		var copied Message
		if err := json.Unmarshal(raw, &copied); err != nil {
			w.t.Fatal(err)
		}
		at := w.now + w.rng.Int64N(2*milli)
		for _, f := range w.flying {
			if f.to == to(m) {
				at = max(at, f.at) // the bus keeps the order
			}
		}
		w.flying = append(w.flying, flight{at, to(m), copied})
	}
}

func (w *world) toAgents(out []Message) { w.send(func(m Message) string { return m.Agent }, out) }

// act does what an agent says.
func (w *world) act(v *virtual, out []Message, do Action) {
	if do.Open != nil {
		v.opened++
		out = append(out, v.Joined(v.step)...)
	}
	if do.Start != 0 {
		v.started = append(v.started, do.Start)
		v.report = do.Start - v.ahead + 3*second
	}
	if do.Close != "" {
		v.closed++
		v.report = 0
	}
	if !v.dead {
		w.send(func(Message) string { return "" }, out)
	}
}

// run plays for a time in steps of a millisecond.
func (w *world) run(d time.Duration) {
	for end := w.now + int64(d); w.now < end; w.now += milli {
		flying := w.flying
		w.flying = nil
		for _, f := range flying {
			switch v := w.agents[f.to]; {
			case f.at > w.now:
				w.flying = append(w.flying, f)
			case f.to == "":
				w.toAgents(w.c.Receive(w.now, &f.msg))
			case v != nil && !v.dead:
				out, do := v.Receive(w.now+v.ahead, &f.msg)
				w.act(v, out, do)
			}
		}
		w.toAgents(w.c.Tick(w.now))
		for _, v := range w.agents {
			if v.dead {
				continue
			}
			if v.report != 0 && w.now >= v.report {
				v.report = 0
				w.act(v, v.Measured(v.step, figuresOf(v.late)), Action{})
			}
			out, do := v.Tick(w.now + v.ahead)
			w.act(v, out, do)
		}
	}
}

// figuresOf are the figures of players that sent late by that much.
func figuresOf(late time.Duration) *Report {
	m := newMerged()
	f := m.Figures
	f.Elapsed, f.Sends, f.Passes = 2*time.Second, 120, 120
	if late > period/2 {
		f.LatePasses = 60
	}
	for i := range int64(120) {
		f.Late.Record(int64(late) + i)
		f.RTT.Record(milli + i)
		f.Age.Record(20*milli + i)
	}
	r := reportOf(f, m.Hiccup)
	return r
}

// reportOf is newReport for figures without a meter of bits.
func reportOf(f *swarm.Figures, hiccup *meter.Histogram) *Report {
	r := &Report{Sent: f.Sent, Elapsed: f.Elapsed}
	for i, h := range hists(f, hiccup) {
		r.Hists[i] = h.AppendBinary(nil)
	}
	return r
}

// job is a step of a number of players.
func job(t *testing.T, players int) *Job {
	t.Helper()
	sc := scenario.Default().At(players)
	at := netip.MustParseAddrPort("127.0.0.1:7913")
	j, err := newJob("b1", sc, []Server{{At: at, Token: at}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func (w *world) begin(players int) {
	w.t.Helper()
	out, err := w.c.Begin(w.now, job(w.t, players), 3*time.Second, period)
	if err != nil {
		w.t.Fatal(err)
	}
	w.toAgents(out)
}

// A step without faults: all agents start at one instant whatever their clocks say, and all figures
// stand.
func TestStepOfFourAgents(t *testing.T) {
	w := newWorld(t, "a", "b", "c", "d")
	w.agents["b"].ahead = 50 * milli
	w.agents["c"].ahead = -80 * milli
	w.run(5 * time.Second)
	if n := w.c.Agents(); n != 4 {
		t.Fatalf("%d agents, want 4", n)
	}
	w.begin(10)
	w.run(5 * time.Second)
	v := w.c.Verdict()
	if !w.c.Over() || v.Void != "" || v.AgeVoid != "" {
		t.Fatalf("over %v\n%s", w.c.Over(), v.Text())
	}
	if n := v.Merged.Figures.RTT.Count(); n != 480 {
		t.Errorf("%d round trips, want 480", n)
	}
	for name, a := range w.agents {
		if a.opened != 1 || len(a.started) != 1 {
			t.Fatalf("%s opened %d times, started %d times", name, a.opened, len(a.started))
		}
		if off := time.Duration(a.started[0] - a.ahead - w.c.Started()).Abs(); off > 2*time.Millisecond {
			t.Errorf("%s starts %v from the others", name, off)
		}
	}
	w.toAgents(w.c.End())
	w.run(time.Second)
	for name, a := range w.agents {
		if a.closed != 1 || a.state != idle {
			t.Errorf("%s closed %d times, state %d", name, a.closed, a.state)
		}
		if len(a.Refused) != 0 {
			t.Errorf("%s refused %v", name, a.Refused)
		}
	}
	if len(w.c.Refused) != 0 {
		t.Errorf("the coordinator refused %v", w.c.Refused)
	}
}

// One agent is killed, one has a clock 300 ms off, one is starved: the verdict names all three, and
// says of each figure for which agents it stands. The killed agent comes back for the next step.
func TestThreeBadAgentsAreNamed(t *testing.T) {
	w := newWorld(t, "good", "killed", "off", "starved")
	w.agents["off"].ahead = 300 * milli
	w.agents["starved"].late = 40 * time.Millisecond
	w.run(5 * time.Second)
	w.begin(8)
	w.run(time.Second)
	if w.c.Started() == 0 {
		t.Fatal("not started within a second")
	}
	w.agents["killed"].dead = true
	w.run(10 * time.Second)
	v := w.c.Verdict()
	if !w.c.Over() {
		t.Fatal("a dead agent is still awaited")
	}
	for name, want := range map[string]string{"good": "", "killed": "died", "off": "clock is off by +300",
		"starved": "did not keep its schedule"} {
		for _, s := range v.Agents {
			if s.Name == name && (!strings.Contains(s.Wrong(), want) || want == "" && s.Wrong() != "") {
				t.Errorf("%s: %q, want %q", name, s.Wrong(), want)
			}
		}
	}
	stand := map[string]string{}
	for _, f := range v.Figures {
		stand[f.Name] = strings.Join(f.Of, " ")
	}
	if stand["service level"] != "" || stand["round trip"] != "good off" || stand["snapshot age"] != "good" {
		t.Errorf("standing: %v", stand)
	}
	for _, want := range []string{"agent killed died", "agent starved the swarm"} {
		if !strings.Contains(v.Void, want) {
			t.Errorf("void because %q, want %q", v.Void, want)
		}
	}
	if strings.Contains(v.Void, "clock") || !strings.Contains(v.AgeVoid, "agent off its clock") {
		t.Errorf("void %q, age %q", v.Void, v.AgeVoid)
	}
	w.toAgents(w.c.End())
	w.agents["killed"] = &virtual{Agent: NewAgent("killed", "b1")}
	w.agents["starved"].late, w.agents["off"].ahead = 0, 0
	w.run(10 * time.Second)
	w.begin(8)
	if n := len(w.c.step.parts); n != 4 {
		t.Errorf("%d agents in the next step, want 4", n)
	}
}

// An agent that comes during a step is let in at the next.
func TestLateAgentWaitsForTheNextStep(t *testing.T) {
	w := newWorld(t, "a")
	w.run(5 * time.Second)
	w.begin(4)
	w.agents["late"] = &virtual{Agent: NewAgent("late", "b1")}
	w.run(6 * time.Second)
	if v := w.c.Verdict(); len(v.Agents) != 1 || v.Void != "" || w.agents["late"].opened != 0 {
		t.Fatalf("%s", v.Text())
	}
	w.toAgents(w.c.End())
	w.run(time.Second)
	w.begin(4)
	w.run(5 * time.Second)
	if v := w.c.Verdict(); len(v.Agents) != 2 || v.Void != "" || w.agents["late"].opened != 1 {
		t.Fatalf("%s", v.Text())
	}
}

// An agent that cannot connect its players ends the step for all, and is named.
func TestFaultBeforeTheStartAborts(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.run(5 * time.Second)
	w.begin(4)
	b := w.agents["b"]
	w.toAgents(w.c.Receive(w.now, &Message{Kind: Fault, Run: "run", Step: 1, Agent: "b", Why: "no route"}))
	w.run(time.Second)
	v := w.c.Verdict()
	if !w.c.Over() || w.c.Started() != 0 || !strings.Contains(v.Void, "agent b no route") {
		t.Fatalf("over %v, started %d\n%s", w.c.Over(), w.c.Started(), v.Text())
	}
	if a := w.agents["a"]; a.closed != 1 || b.closed != 1 {
		t.Errorf("closed %d and %d times, want 1 and 1", a.closed, b.closed)
	}
}

// Agents alone: without a coordinator their players end.
func TestAgentEndsWithoutItsCoordinator(t *testing.T) {
	w := newWorld(t, "a")
	w.run(5 * time.Second)
	w.begin(4)
	w.run(200 * time.Millisecond)
	a := w.agents["a"]
	if a.opened != 1 {
		t.Fatal("not opened")
	}
	if _, do := a.Tick(a.heard + int64(aloneAfter) + 1); do.Close == "" || a.state != idle {
		t.Errorf("state %d, %+v", a.state, do)
	}
}

// Messages that are not expected are refused by name and counted, and change nothing.
func TestHostileMessagesAreCounted(t *testing.T) {
	w := newWorld(t, "a")
	w.run(5 * time.Second)
	w.begin(4)
	bad := figuresOf(0)
	bad.Hists[histRTT] = []byte("no histogram")
	many := figuresOf(0)
	many.Sent.LateOf = map[swarm.LobbySlot]uint64{3: many.Sent.LateTicks + 1}
	if why := many.wrong(); !strings.Contains(why, "late ticks of single players") {
		t.Errorf("more late ticks of one player than of all: %q", why)
	}
	for i, c := range []struct {
		m    Message
		want error
	}{
		{Message{Kind: Hello, Agent: "a.b", Build: "b1"}, ErrForm},
		{Message{Kind: Hello, Agent: "x", Build: "b2"}, ErrBuild},
		{Message{Kind: Ready, Run: "run", Step: 1, Agent: "x"}, ErrStranger},
		{Message{Kind: Ready, Run: "other", Step: 1, Agent: "a"}, ErrStranger},
		{Message{Kind: Ready, Run: "run", Step: 2, Agent: "a"}, ErrUnasked},
		{Message{Kind: Result, Run: "run", Step: 1, Agent: "a", Report: figuresOf(0)}, ErrUnasked},
		{Message{Kind: Start, Run: "run", Step: 1, Agent: "a"}, ErrUnasked},
		{Message{Kind: Pong, Run: "run", Agent: "a", T0: 5}, ErrUnasked},
		{Message{Kind: "?", Run: "run", Step: 1, Agent: "a"}, ErrUnasked},
		{Message{Kind: Fault, Run: "run", Step: 1, Agent: "a", Why: strings.Repeat("x", maxWhy+1)}, ErrForm},
	} {
		before := w.c.Refused[c.want.Error()]
		w.c.Receive(w.now, &c.m)
		if got := w.c.Refused[c.want.Error()]; got != before+1 {
			t.Errorf("%d: %q counted %d times, want %d", i, c.want, got, before+1)
		}
	}
	w.run(time.Second)
	w.c.Receive(w.now, &Message{Kind: Result, Run: "run", Step: 1, Agent: "a", Report: bad})
	if v := w.c.Verdict(); w.c.Refused[ErrReport.Error()] != 1 || !strings.Contains(v.Void, "figures cannot be") ||
		v.Merged.Figures.RTT.Count() != 0 {
		t.Errorf("%v\n%s", w.c.Refused, v.Text())
	}
}

// A job that is not what its hash or its scenario says is refused with what was expected.
func TestWrongJobsAreRefused(t *testing.T) {
	for i, c := range []struct {
		change func(*Job)
		want   string
	}{
		{func(j *Job) { j.Build = "b2" }, "of build"},
		{func(j *Job) { j.Scenario = append(j.Scenario, ' ') }, "hash"},
		{func(j *Job) { j.Servers = nil }, "0 servers"},
		{func(j *Job) { j.Servers[0].At = netip.AddrPort{} }, "address with a port"},
		{func(j *Job) { j.Clients++ }, "size"},
		{func(j *Job) { j.Lobbies = 0 }, "size"},
		{func(j *Job) { j.Share = Share{3, 2} }, "share of 2 players"},
		{func(j *Job) { j.Share = Share{-1, 2} }, "share of 2 players"},
		{func(j *Job) { j.Share = Share{1, 1<<63 - 1} }, "share of"},
	} {
		j := job(t, 4)
		j.Share = Share{0, 4}
		if _, err := j.read("b1"); err != nil {
			t.Fatal(err)
		}
		c.change(j)
		if _, err := j.read("b1"); !errors.Is(err, ErrJob) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

// A sealed message opens with its key under its subject alone.
func TestSealIsOfKeyAndSubject(t *testing.T) {
	s, m := NewSealer(Key{1}), Message{Kind: Ping, Agent: "a", T0: 7}
	raw, err := s.Seal("x", &m)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Open("x", raw); err != nil || got.T0 != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for i, c := range []struct {
		s       *Sealer
		subject string
		raw     []byte
		want    error
	}{
		{NewSealer(Key{2}), "x", raw, ErrSeal}, {s, "y", raw, ErrSeal}, {s, "x", raw[:20], ErrSeal},
		{s, "x", nil, ErrForm}, {s, "x", make([]byte, MaxSize+1), ErrSize},
	} {
		if _, err := c.s.Open(c.subject, c.raw); !errors.Is(err, c.want) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
}

// Merged figures of parts are those of one swarm with all values.
func TestMergedFiguresAreThoseOfAll(t *testing.T) {
	merged, all := newMerged(), newMerged()
	rng := rand.New(rand.NewPCG(8, 9))
	for i := range 5 {
		part := newMerged()
		part.Figures.LateTicks = 3
		part.Figures.LateOf = map[swarm.LobbySlot]uint64{swarm.NewLobbySlot(i%2, 7): 2, swarm.NewLobbySlot(2, i): 1}
		part.Figures.Elapsed = time.Second
		for range 1000 {
			for i, h := range hists(part.Figures, part.Hiccup) {
				v := rng.Int64N(second)
				h.Record(v)
				hists(all.Figures, all.Hiccup)[i].Record(v)
			}
			part.Figures.Passes++
			all.Figures.Passes++
		}
		if err := merged.add(reportOf(part.Figures, part.Hiccup)); err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range hists(merged.Figures, merged.Hiccup) {
		want := hists(all.Figures, all.Hiccup)[i]
		for _, q := range []float64{0, 0.5, 0.99, 0.999, 1} {
			if h.Quantile(q) != want.Quantile(q) || h.Count() != 5000 || h.Mean() != want.Mean() {
				t.Errorf("histogram %d: quantile %v is %d of %d, want %d", i, q, h.Quantile(q), h.Count(),
					want.Quantile(q))
			}
		}
	}
	if f := merged.Figures; f.LateTicks != 15 || len(f.LateOf) != 7 || f.LateOf[swarm.NewLobbySlot(0, 7)] != 6 ||
		f.LateOf[swarm.NewLobbySlot(2, 4)] != 1 {
		t.Errorf("%d late ticks, of players %v", f.LateTicks, f.LateOf)
	}
	if merged.Figures.Passes != all.Figures.Passes || merged.Figures.Elapsed != time.Second {
		t.Errorf("%d passes in %v", merged.Figures.Passes, merged.Figures.Elapsed)
	}
}

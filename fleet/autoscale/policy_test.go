package autoscale

import (
	"math"
	"strings"
	"testing"
	"time"
)

func policyOf(t *testing.T, cfg Config) *Policy {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hosts asks for figures that can be.
func hosts(t *testing.T, p *Policy, now time.Duration, f Fleet, players int) int {
	t.Helper()
	n, err := p.Hosts(now, f, &Report{Hosts: 4, Players: players})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The answer follows players and their trend, falls only after a while, and stays within its limits.
func TestPolicy(t *testing.T) {
	cfg := Config{PerHost: 100, StartUp: 2 * time.Minute, Window: 10 * time.Minute, Hold: 10 * time.Minute, Least: 2, Most: 20}
	p := policyOf(t, cfg)
	if n := hosts(t, p, 0, Fleet{}, 0); n != 2 {
		t.Errorf("%d hosts for nobody, want the least, 2", n)
	}
	p = policyOf(t, cfg)
	if n := hosts(t, p, 0, Fleet{}, 401); n != 6 {
		t.Errorf("%d hosts for 401 players, want 5 and one to spare", n)
	}
	for i := range 21 { // 20 players a minute more: 40 until a host has started
		if n, want := hosts(t, p, time.Duration(i)*30*time.Second+1, Fleet{}, 400+10*i), 0; i == 20 {
			if want = 8; n != want { // 600 + 40
				t.Errorf("%d hosts for 600 players that grow by 20 a minute, want %d", n, want)
			}
		}
	}
	if n := hosts(t, p, 15*time.Minute, Fleet{}, 100); n < 8 {
		t.Errorf("%d hosts as soon as players have left, want 8 for ten minutes", n)
	}
	for at := 16; at < 40; at++ {
		hosts(t, p, time.Duration(at)*time.Minute, Fleet{}, 100)
	}
	if n := hosts(t, p, 40*time.Minute, Fleet{}, 100); n != 2 {
		t.Errorf("%d hosts 25 minutes later, want 2", n)
	}
	if n := hosts(t, p, 41*time.Minute, Fleet{Allocated: 7, Reserved: 1}, 100); n != 8 {
		t.Errorf("%d hosts, want the 8 with players", n)
	}
	if n := hosts(t, p, 42*time.Minute, Fleet{}, 4000); n != 20 {
		t.Errorf("%d hosts, want the most, 20", n)
	}
}

// More players a minute than usual raise the answer before they are counted as players; an even flow
// of any size does not, nor do a few more.
func TestRow79ArrivalsShowARise(t *testing.T) {
	answer := func(usual, now int) int {
		p := policyOf(t, Config{PerHost: 100, StartUp: 2 * time.Minute, Spare: -1})
		n := 0
		for i := range 20 {
			r := &Report{Hosts: 10, Players: 480, Arrivals: usual + i%3}
			if i == 19 {
				r.Arrivals = now
			}
			var err error
			if n, err = p.Hosts(time.Duration(i)*30*time.Second, Fleet{}, r); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	for _, c := range []struct{ usual, now, want int }{
		{0, 0, 5}, {50, 51, 5}, {500, 501, 5}, {500, 504, 5},
		{50, 0, 5},    // fewer: the players themselves say when they are gone
		{50, 250, 7},  // 200 a minute more; beside twice the deviation about 100, for two minutes
		{50, 950, 15}, // likewise 900
	} {
		if n := answer(c.usual, c.now); n != c.want {
			t.Errorf("%d hosts for 480 players when %d come after %d a minute, want %d", n, c.now, c.usual, c.want)
		}
	}
}

// Hosts that are busier than their plan said carry fewer players.
func TestBusyHostsCarryFewer(t *testing.T) {
	p := policyOf(t, Config{PerHost: 100, Spare: -1})
	if n, err := p.Hosts(0, Fleet{}, &Report{Hosts: 4, Players: 300, Busy: 3.75}); n != 4 || err != nil {
		t.Errorf("%d hosts: 300 players that keep 3.75 processors busy need 4: %v", n, err)
	}
	if n, err := p.Hosts(1, Fleet{}, &Report{Hosts: 4, Players: 240, Busy: 4}); n != 4 || err != nil {
		t.Errorf("%d hosts, 60 players each: %v", n, err)
	}
}

// Without figures that can be, the fleet stays as it is.
func TestRow79FiguresThatCannotBe(t *testing.T) {
	p := policyOf(t, Config{PerHost: 100})
	f := Fleet{Replicas: 9, Allocated: 3}
	for _, r := range []*Report{nil, {Hosts: -1}, {Hosts: 1, Players: -1}, {Hosts: 1, Busy: math.NaN()},
		{Hosts: 1, Busy: 1.5}, {Hosts: 1, Players: 1001}, {Hosts: 1, Arrivals: -1}, {Hosts: 1, Arrivals: 1001}} {
		if n, err := p.Hosts(0, f, r); n != 9 || (err != nil) != (r != nil) {
			t.Errorf("%+v: %d hosts, %v", r, n, err)
		}
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{{Config{}, "0 players a host"}, {Config{PerHost: 1, Fill: 1.5}, "load of a host 1.5"},
		{Config{PerHost: 1, Fill: math.NaN()}, "load of a host NaN"},
		{Config{PerHost: 1, Hold: -1}, "a time below zero"}, {Config{PerHost: 1, Least: 5, Most: 4}, "5 to 4 hosts"}} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// A plan is read if it is one, of this build, and has a knee.
func TestReadPlan(t *testing.T) {
	const plan = `{"type": "plan", "version": 4, "commit": "v1", "machine": {"cpu": "Z", "cores": 8}, "knee": {"low": 640}}`
	c, err := ReadPlan(strings.NewReader(plan), "v1")
	if err != nil || c != (Capacity{640, "Z", 8}) {
		t.Errorf("%+v: %v", c, err)
	}
	if _, err := ReadPlan(strings.NewReader(plan), ""); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ plan, want string }{
		{"<html>", "not a plan.json"}, {strings.Replace(plan, `: 4`, `: 2`, 1), "version 2: expected 4"},
		{strings.Replace(plan, `"plan"`, `"step"`, 1), `not a plan.json: it has the type "step"`},
		{strings.Replace(plan, "v1", "v0", 1), `build "v0": expected "v1"`},
		{strings.Replace(plan, "640", "0", 1), "no players were carried"},
	} {
		if _, err := ReadPlan(strings.NewReader(c.plan), "v1"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.plan, err, c.want)
		}
	}
}

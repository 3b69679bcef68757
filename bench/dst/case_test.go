package dst

import (
	"reflect"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/schema"
)

// A case and its text convert into each other.
func TestCaseRoundTrip(t *testing.T) {
	for _, c := range []Case{
		{Seed: 1},
		{Seed: 1<<64 - 1, Until: 31417 * time.Millisecond},
		{Seed: 2, Clients: 1, Without: []int{0, 1, 2, 5, 7, 8}},
		{Seed: 3, Codec: schema.HuffmanZstd},
		{Seed: 4, Lobbies: 3, Until: 20 * time.Second, Without: []int{1}},
	} {
		got, err := ParseCase(c.String())
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%v: %+v, %v", c, got, err)
		}
	}
	for _, bad := range []string{"", "--seed", "--seed x", "--seed 1 --until 2h", "--seed 1 --clients 99",
		"--seed 1 --without 3-1", "--seed 1 --without 0-99999999999", "--seed 1 --without 5000", "--sed 1",
		"--seed 1 --codec lzma", "--seed 1 --lobbies 6", "--seed 1 --lobbies 2 --until 25s"} {
		if c, err := ParseCase(bad); err == nil {
			t.Errorf("%q is %+v", bad, c)
		}
	}
}

// Equal seeds draw equal scenarios, different seeds differ, and every kind of fault is drawn.
func TestDraw(t *testing.T) {
	var kinds [numKinds]int
	for seed := range uint64(50) {
		a, b := Draw(seed), Draw(seed)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d draws %+v and %+v", seed, a, b)
		}
		if reflect.DeepEqual(a, Draw(seed+1000)) {
			t.Errorf("seeds %d and %d draw the same", seed, seed+1000)
		}
		for i := range a.Faults {
			f := &a.Faults[i]
			kinds[f.Kind]++
			if f.At >= faultsEnd || f.Client >= a.Clients || f.Link.Check() != nil {
				t.Errorf("seed %d: %v", seed, f)
			}
		}
	}
	for k, n := range kinds {
		if n == 0 {
			t.Errorf("no %v", Kind(k))
		}
	}
}

// A base draws the same seeds each time, and other bases draw others, of all 64 bits.
func TestSeedsOfABase(t *testing.T) {
	seen, bits := map[uint64]bool{}, uint64(0)
	for base := range uint64(50) {
		a, b := Seeds(base), Seeds(base)
		for range 50 {
			seed := a()
			if seed != b() || seen[seed] {
				t.Fatalf("base %d: seed %d", base, seed)
			}
			seen[seed], bits = true, bits|seed
		}
	}
	if bits != ^uint64(0) {
		t.Errorf("seeds have the bits %x", bits)
	}
}

// Equal seeds draw equal hosts, every kind of fault of hosts is drawn, and the first lobby has room
// for everybody.
func TestDrawHost(t *testing.T) {
	var kinds [allKinds]int
	for seed := range uint64(50) {
		a := DrawHost(seed)
		if !reflect.DeepEqual(a, DrawHost(seed)) || reflect.DeepEqual(a, DrawHost(seed+1000)) {
			t.Fatalf("seed %d draws %+v", seed, a)
		}
		if n := len(a.Lobbies); n < 2 || n > MaxLobbies || a.Lobbies[0].Players != 0 {
			t.Errorf("seed %d: %+v", seed, a.Lobbies)
		}
		for i := range a.Faults {
			f := &a.Faults[i]
			kinds[f.Kind]++
			if f.At >= ofHost.faultsEnd || f.Client >= a.Clients || f.Link.Check() != nil {
				t.Errorf("seed %d: %v", seed, f)
			}
		}
	}
	for k, n := range kinds {
		if (n == 0) != (mostHostFaults[k] == 0) {
			t.Errorf("%d of %v", n, Kind(k))
		}
	}
}

// Every fault of every kind ends before the last fifth of a run, those of disks and clocks too.
func TestFaultsEnd(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		r, err := newRun(Case{Seed: seed}, skipped{})
		if err != nil {
			t.Fatal(err)
		}
		for r.Now() <= faultsEnd+r.rate.Period() {
			r.updateFaults()
			for _, k := range r.attackers {
				k.step(r)
			}
			if err := r.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range r.faults {
			if f := &r.faults[i]; !f.ended {
				t.Errorf("seed %d: %v is not over", seed, &f.Fault)
			}
		}
		for i := range r.honest {
			s := &r.honest[i]
			if s.stalls != 0 || s.blackholes != 0 || s.badLink != nil || s.congested {
				t.Errorf("seed %d: client %d has %d stalls, %d blackholes, link %v, congestion %v",
					seed, i, s.stalls, s.blackholes, s.badLink, s.congested)
			}
		}
		for _, k := range r.attackers {
			if !k.gone {
				t.Errorf("seed %d: the %v still attacks", seed, k.kind)
			}
		}
		if d := &r.recordings.disk; d.failing || d.space >= 0 || r.noTick {
			t.Errorf("seed %d: the disk fails: %v, has %d bytes left; the server is stalled: %v",
				seed, d.failing, d.space, r.noTick)
		}
	}
}

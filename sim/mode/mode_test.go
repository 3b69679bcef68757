package mode

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"pgregory.net/rapid"
)

// The capture rate of any number of players is their square root, rounded down.
func TestCaptureRateIsTheSquareRoot(t *testing.T) {
	for n := range uint32(math.MaxUint16 + 1) {
		want := new(big.Int).Sqrt(new(big.Int).Mul(big.NewInt(int64(n)),
			big.NewInt(captureUnit*captureUnit))).Uint64()
		if got := captureRate(uint16(n)); uint64(got) != want {
			t.Fatalf("%d players: %d, want %d", n, got, want)
		}
	}
}

// A point takes captureTime/sqrt(attackers), at every rate, within a tick for the rounding.
func TestRow56CaptureTime(t *testing.T) {
	for _, rate := range []tick.Rate{20, 30, 60, 64, 128} {
		for _, n := range []uint16{1, 2, 3, 4, 5, 16, 100} {
			r := DefaultAssault().MustCompile(rate)
			s := State{Phase: Active, Winner: NoWinner, Left: r.round}
			in, out := Input{Zones: []Occupancy{{n, 0}}}, Output{}
			ticks := 0
			for ; s.Point == 0; ticks++ {
				s = r.Step(s, &in, &out)
			}
			want := 10 * float64(rate) / math.Sqrt(float64(n))
			if math.Abs(float64(ticks)-math.Ceil(want)) > 1 || n == 1 && ticks != 10*int(rate) {
				t.Errorf("%d Hz, %d attackers: %d ticks, want %.1f", rate, n, ticks, want)
			}
		}
	}
}

func TestCompileNamesTheField(t *testing.T) {
	for i, c := range []struct {
		change func(*Params)
		want   string
	}{
		{func(p *Params) { p.Kind = kinds }, "Kind: 2, want 0 to 1"},
		{func(p *Params) { p.MinPlayers = 0 }, "MinPlayers: 0, want 1 to 10000"},
		{func(p *Params) { p.PrematchMillis = -1 }, "PrematchMillis: -1, want 0 to 600000"},
		{func(p *Params) { p.RoundMillis = 999 }, "RoundMillis: 999, want 1000 to 7200000"},
		{func(p *Params) { p.PostmatchMillis = 600001 }, "PostmatchMillis: 600001, want 0 to 600000"},
		{func(p *Params) { p.RespawnMillis = 60001 }, "RespawnMillis: 60001, want 0 to 60000"},
		{func(p *Params) { p.ScoreLimit = 1 }, "ScoreLimit: 1, want 0 to 0"},
		{func(p *Params) { p.Points = 0 }, "Points: 0, want 1 to 8"},
		{func(p *Params) { p.Points = 9 }, "Points: 9, want 1 to 8"},
		{func(p *Params) { p.CaptureMillis = 99 }, "CaptureMillis: 99, want 100 to 600000"},
		{func(p *Params) { p.SpawnBehind = 9 }, "SpawnBehind: 9, want 0 to 8"},
		{func(p *Params) { p.Kind = Deathmatch }, "Points: 3, want 0 to 0"},
	} {
		p := DefaultAssault()
		c.change(&p)
		if _, err := p.Compile(60); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
	if _, err := DefaultAssault().Compile(19); err == nil {
		t.Error("19 Hz is taken")
	}
}

// stepped is a step of a round: the states around it, its input and its output.
type stepped struct {
	was, is State
	in      *Input
	out     *Output
}

// check checks what must be true of every step.
func (s stepped) check(t interface {
	Helper()
	Fatalf(string, ...any)
}, r *Rules) {
	t.Helper()
	was, is, in, out := s.was, s.is, s.in, s.out
	limits := [Phases]uint32{r.prematch, r.round, r.postmatch}
	switch {
	case is.Phase != was.Phase && is.Phase != (was.Phase+1)%Phases:
		t.Fatalf("phase %d after %d", is.Phase, was.Phase)
	case is.Left == 0 || is.Left > limits[is.Phase]:
		t.Fatalf("phase %d has %d left of %d", is.Phase, is.Left, limits[is.Phase])
	case is.Progress > r.full || is.Progress != 0 && is.Progress == r.full:
		t.Fatalf("progress %d of %d", is.Progress, r.full)
	case is.Point > r.Points || is.Point == r.Points && r.Points > 0 && is.Phase != Ended:
		t.Fatalf("point %d of %d in phase %d", is.Point, r.Points, is.Phase)
	case (is.Winner == NoWinner) != (is.Phase != Ended):
		t.Fatalf("winner %d in phase %d", is.Winner, is.Phase)
	case is.Winner != NoWinner && is.Winner != Tie && is.Winner >= Teams:
		t.Fatalf("winner %d", is.Winner)
	case was.Phase == Ended && is.Phase == Ended && (is.Winner != was.Winner || is.Score != was.Score):
		t.Fatalf("%+v became %+v after the end", was, is)
	case r.Kind == Assault && is.Winner == Tie:
		t.Fatalf("an assault without a winner")
	case r.Kind == Assault && is.Score != [Teams]int32{int32(is.Point), 0}:
		t.Fatalf("score %v at point %d", is.Score, is.Point)
	case out.KillAll != (was.Phase == Active && is.Phase == Ended):
		t.Fatalf("phase %d to %d: KillAll %v", was.Phase, is.Phase, out.KillAll)
	case out.Restart != (was.Phase == Ended && is.Phase == Countdown):
		t.Fatalf("phase %d to %d: Restart %v", was.Phase, is.Phase, out.Restart)
	case len(out.Announcements) > len(in.Kills)+3 || len(out.Awards) > len(in.Kills):
		t.Fatalf("%d announcements and %d awards for %d kills", len(out.Announcements), len(out.Awards),
			len(in.Kills))
	case is.Status >= Statuses || is.Status != Quiet && is.Phase != Active:
		t.Fatalf("status %d in phase %d", is.Status, is.Phase)
	}
	for _, a := range out.Announcements {
		if a.Kind == 0 || a.Kind >= AnnouncementKinds {
			t.Fatalf("announced %+v", a)
		}
	}
}

// Equal inputs give equal states for any previous Output, and Step keeps nothing of its Input.
func TestSameInputsSameStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]Params{DefaultDeathmatch(), DefaultAssault()}).Draw(t, "mode")
		p.PrematchMillis, p.RoundMillis, p.PostmatchMillis = 50, 1000, 50
		if p.Kind == Assault {
			p.CaptureMillis = 100
		} else {
			p.ScoreLimit = 5
		}
		r := p.MustCompile(60)
		a, b := r.Start(), r.Start()
		var one, two Output
		ids := rapid.Uint32Range(0, 4)
		for range rapid.IntRange(1, 300).Draw(t, "ticks") {
			in := Input{Players: [Teams]uint16{uint16(rapid.IntRange(0, 3).Draw(t, "p0")), 1}}
			for range rapid.IntRange(0, 2).Draw(t, "kills") {
				in.Kills = append(in.Kills, kill(netid.ID(ids.Draw(t, "killer")),
					netid.ID(ids.Draw(t, "victim"))))
			}
			for range rapid.IntRange(0, 4).Draw(t, "zones") {
				in.Zones = append(in.Zones, Occupancy{uint16(ids.Draw(t, "a")), uint16(ids.Draw(t, "d") / 4)})
			}
			was := a
			a = r.Step(a, &in, &one)
			stepped{was, a, &in, &one}.check(t, r)
			two = Output{Announcements: make([]Announcement, 7, 99), Awards: make([]netid.ID, 3),
				KillAll: true, Restart: true}
			b = r.Step(b, &Input{in.Players, slices.Clone(in.Kills), slices.Clone(in.Zones)}, &two)
			if a != b || !slices.Equal(one.Announcements, two.Announcements) ||
				!slices.Equal(one.Awards, two.Awards) {
				t.Fatalf("%+v and %+v", a, b)
			}
		}
	})
}

// FuzzStep feeds ticks of 16 bytes: players, a kill, the zones.
func FuzzStep(f *testing.F) {
	f.Add(true, []byte("0123456789abcdef0123456789abcdef"))
	f.Add(false, slices.Repeat([]byte{2, 0, 2, 0, 1, 2, 3, 4, 1, 0, 4, 0, 0, 0, 0, 0}, 200))
	f.Fuzz(func(t *testing.T, assault bool, script []byte) {
		p := DefaultDeathmatch()
		if assault {
			p = DefaultAssault()
			p.CaptureMillis, p.Points = 100, 2
		}
		p.PrematchMillis, p.RoundMillis, p.PostmatchMillis = 0, 1000, 30
		r := p.MustCompile(20)
		s := r.Start()
		var out Output
		for ; len(script) >= 16; script = script[16:] {
			u16 := func(i int) uint16 { return binary.LittleEndian.Uint16(script[i:]) }
			in := Input{Players: [Teams]uint16{u16(0), u16(2)}, Zones: []Occupancy{{u16(8), u16(10)},
				{u16(12), u16(14)}}}
			in.Kills = []Kill{{Killer: netid.ID(script[4]), Victim: netid.ID(script[5]),
				KillerTeam: script[6], VictimTeam: script[7]}}
			in.Zones = in.Zones[:script[4]%3]
			was := s
			s = r.Step(s, &in, &out)
			stepped{was, s, &in, &out}.check(t, r)
			r.Spawn(&s, script[6])
			if place := r.Spawn(&s, script[7]); int(place.Base) >= int(r.Points) {
				t.Fatalf("base %d of %d", place.Base, r.Points)
			}
		}
	})
}

func TestStepAllocatesNothing(t *testing.T) {
	r := DefaultAssault().MustCompile(60)
	s := State{Phase: Active, Winner: NoWinner, Left: r.round}
	in := Input{Players: [Teams]uint16{4, 4}, Kills: []Kill{kill(2, 3), kill(3, 2)},
		Zones: []Occupancy{{4, 0}, {1, 1}, {0, 2}}}
	out := Output{Announcements: make([]Announcement, 0, 8), Awards: make([]netid.ID, 0, 8)}
	if n := alloctest.In(100, func() { s = r.Step(s, &in, &out) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	r := DefaultAssault().MustCompile(60)
	s := State{Phase: Active, Winner: NoWinner, Left: r.round}
	in := Input{Players: [Teams]uint16{16, 16}, Zones: []Occupancy{{5, 0}, {3, 0}, {7, 0}}}
	var out Output
	for b.Loop() {
		s = r.Step(s, &in, &out)
	}
}

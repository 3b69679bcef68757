package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
)

// windowed returns a lobby that plays, with a live page that can be filled without a reader.
func windowed(t testing.TB, players int, brain func(n int) swarm.Brain) (*lobbysim.Sim, *DashFeed) {
	t.Helper()
	b, err := lobbysim.New(lobbysim.Config{Lobby: server.Config{Arena: simtest.Arena(),
		ArenaName: "arena-16", Players: players}, Clients: players, Seed: 1, Brain: brain})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Steps(t, b, 180)
	f := NewDashFeed(b.Lobby, func() string { return "normal" }, b.Now)
	t.Cleanup(f.Close)
	return b, f
}

// Without readers a tick does nothing for the page, and filling a frame allocates nothing either.
func TestLivePageAllocatesNothing(t *testing.T) {
	b, f := windowed(t, 40, nil)
	if n := alloctest.In(100, func() {
		f.Tick(b.Now(), 0, time.Millisecond)
	}); n != 0 || f.frame != nil {
		t.Errorf("%v allocations without readers, frame %v", n, f.frame != nil)
	}
	if n := alloctest.In(20, func() {
		f.begin(b.Now())
		for range 15 {
			f.addTick(time.Microsecond, time.Millisecond)
		}
		f.finish(b.Now() + 250*time.Millisecond)
		f.page.Publish()
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// The figures of the page match the lobby: bytes by part are bytes sent, and those of each client
// are those of its session.
func TestLivePageTellsTheTruth(t *testing.T) {
	b, feed := windowed(t, 40, nil)
	l := b.Lobby
	count := func(c metrics.Count) uint64 { return l.Stats.Count[c].Load() }
	feed.begin(b.Now())
	from, out, in, sent := b.Now(), count(metrics.BytesOut), count(metrics.BytesIn), count(metrics.Sent)
	shots := count(metrics.Shots)
	hits := 0
	for range 60 {
		simtest.Steps(t, b, 1)
		feed.addTick(time.Millisecond, 2*time.Millisecond)
		for _, hit := range l.Match().Outcome().Hits {
			if hit.ID != 0 {
				hits++
			}
		}
	}
	feed.finish(b.Now())
	f, span := feed.frame, (b.Now() - from).Seconds()
	near := func(what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("span", f.Span, span, 1e-9)
	near("down", f.Down, float64(count(metrics.BytesOut)-out)/span, float64(metrics.NumSections))
	near("up", f.Up, float64(count(metrics.BytesIn)-in)/span, 1)
	// a tag of 16, a prefix of 2 to 4
	near("seals", f.Parts[metrics.SectionSeal]*span/float64(count(metrics.Sent)-sent), 19, 1.5)
	if f.Parts[metrics.SectionPlayer] < f.Parts[metrics.SectionOwner] ||
		f.Parts[metrics.SectionSession] > 0.05*f.Down {
		t.Errorf("parts %v", f.Parts)
	}
	var down, up float64
	for _, p := range f.Players {
		if !p.Connected || !p.Body || !strings.HasPrefix(p.Name, "bot ") || p.RTT != 0 && p.RTT > 100 ||
			p.LossDown != 0 || p.LossUp != 0 || p.InputsMissing > 20 || p.Down == 0 || p.Up == 0 {
			t.Errorf("%+v", p)
		}
		down, up = down+float64(p.Down), up+float64(p.Up)
	}
	near("clients' share of down", down*125, f.Down, 0.02*f.Down)
	near("clients' share of up", up*125, f.Up, 0.02*f.Up)
	if len(f.Players) != 40 || len(f.Ticks) != 60 || f.Ticks[0].Wall != 2000 ||
		f.Ticks[0].Late != 1000 || f.Tick != uint64(l.Match().Tick()) || f.Arena != "arena-16" {
		t.Errorf("%d players, %d ticks, %+v", len(f.Players), len(f.Ticks), f.Ticks[0])
	}
	if len(f.Shots) != min(hits, dash.MaxShots) ||
		len(f.Rays) != min(int(count(metrics.Shots)-shots)-hits, dash.MaxRays) {
		t.Errorf("%d shots and %d rays told of %d that hit among %d", len(f.Shots),
			len(f.Rays), hits, count(metrics.Shots)-shots)
	}
	for i := range f.Shots {
		touches(t, &f.Shots[i])
	}
	if len(f.Shots) == 0 {
		t.Error("nobody was hit: nothing is tested")
	}
	// what was written is not in the next
	if again := feed.page.Next(); len(again.Players) != 0 || len(again.Ticks) != 0 {
		t.Errorf("%+v", again)
	}
}

// touches checks a shot: its ball at the end of its path touches the named bone of the rewound
// body.
func touches(t *testing.T, s *dash.Shot) {
	t.Helper()
	if len(s.Then) != int(rig.Bones) || len(s.Now) != int(rig.Bones) ||
		s.Shooter == s.Victim || s.Back <= 0 || s.Back > 500 {
		t.Fatalf("%+v", s)
	}
	for bone := range rig.Bones {
		if rig.HeroBodies.BoneName(0, bone) != s.Bone {
			continue
		}
		c := s.Then[bone]
		a, b, p := geom.Vec3{X: c[0], Y: c[1], Z: c[2]}, geom.Vec3{X: c[3], Y: c[4], Z: c[5]},
			geom.Vec3{X: s.To[0], Y: s.To[1], Z: s.To[2]}
		along := max(0, min(1, p.Sub(a).Dot(b.Sub(a))/max(1e-9, b.Sub(a).Dot(b.Sub(a)))))
		if gap := p.Sub(a.Add(b.Sub(a).Scale(along))).Len() - c[6] - s.Radius; gap > 0.005 || gap < -0.005 {
			t.Errorf("the ball is %.3f m from the %s that it hit", gap, s.Bone)
		}
		return
	}
	t.Errorf("bone %q", s.Bone)
}

// The map has every solid once, and the areas of teams.
func TestLivePageHasTheMap(t *testing.T) {
	m := mapOf(simtest.Arena(), "here")
	if m.Arena != "here" || len(m.Solids) != len(simtest.Arena().Solids) || m.Min == m.Max {
		t.Errorf("%s, %d solids from %v to %v", m.Arena, len(m.Solids), m.Min, m.Max)
	}
}

// When the lobby changes its map, so does the page.
func TestLivePageFollowsTheMap(t *testing.T) {
	_, f := windowed(t, 4, nil)
	mux := http.NewServeMux()
	f.page.Routes(mux)
	shown := func() string {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "/dash/map.json", nil))
		return w.Body.String()[:24]
	}
	if got := shown(); !strings.Contains(got, `"arena":"arena-16"`) {
		t.Errorf("%s", got)
	}
	f.page.SetMap(dash.Map{Arena: "another"})
	f.arena = nil
	f.followMap()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(shown(),
		`"arena":"arena-16"`); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(shown())
		}
	}
}

// BenchmarkLivePage measures a page with a reader: four frames a second, each with its ticks and
// players, beside the ticks of the lobby.
func BenchmarkLivePage(b *testing.B) {
	for _, players := range []int{256} {
		b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
			s, f := windowed(b, players, nil)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rate := int(s.Lobby.Config().Rules.Rate)
			var page time.Duration
			f.begin(s.Now())
			for n := range b.N {
				simtest.Steps(b, s, 1)
				at := clock.ThreadCPU()
				f.addTick(0, 0)
				if n%(rate/framesPerSecond) == 0 {
					f.finish(s.Now())
					f.page.Publish()
					f.begin(s.Now())
				}
				page += clock.ThreadCPU() - at
			}
			b.ReportMetric(float64(page)/float64(b.N), "page-ns/tick")
		})
	}
}

// Each frame has the movers of the map where the tick has them.
func TestRow55LivePageShowsMovers(t *testing.T) {
	a, err := arena.Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	b, err := lobbysim.New(lobbysim.Config{Lobby: server.Config{Arena: a, ArenaName: "lifts", Players: 4},
		Clients: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f := NewDashFeed(b.Lobby, func() string { return "normal" }, b.Now)
	t.Cleanup(f.Close)
	moved := 0
	last := dash.Vec{}
	for range 12 {
		simtest.Steps(t, b, 15)
		f.begin(b.Now())
		f.finish(b.Now())
		now := arena.Moment{Tick: b.Lobby.Match().Tick(), Rate: 60}
		if len(f.frame.Movers) != 3 {
			t.Fatalf("%d movers", len(f.frame.Movers))
		}
		for i, m := range f.frame.Movers {
			if want := a.Movers[i].At(now); m.Min != vecOf(want.Min) || m.Max != vecOf(want.Max) {
				t.Errorf("tick %d: mover %d at %v, want %v", now.Tick, i, m, want)
			}
		}
		if at := f.frame.Movers[0].Min; at != last {
			moved, last = moved+1, at
		}
		f.page.Publish()
	}
	if moved < 4 {
		t.Errorf("the elevator was at %d places in three seconds", moved)
	}
}

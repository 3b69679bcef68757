package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// windowed is a lobby at play with a page that can be filled without anybody who watches.
func windowed(t testing.TB, players int) (*table, *Host) {
	b := newTable(t, players, Config{Players: players})
	b.turning(1)
	b.play(3)
	h := &Host{front: &front{start: time.Now()}, lobby: b.lobby, view: newView(b.lobby)}
	t.Cleanup(h.view.close)
	return b, h
}

// While nobody watches a tick does nothing for the page, and filling a frame allocates nothing either.
func TestLivePageAllocatesNothing(t *testing.T) {
	b, h := windowed(t, 40)
	if n := testing.AllocsPerRun(100, func() { h.display(b.now, 0, time.Millisecond) }); n != 0 || h.view.frame != nil {
		t.Errorf("%v allocations while nobody watches, frame %v", n, h.view.frame != nil)
	}
	v := &h.view
	if n := testing.AllocsPerRun(20, func() {
		v.begin(b.now, b.lobby)
		for range 15 {
			v.tick(b.lobby, time.Microsecond, time.Millisecond)
		}
		v.fill(b.now+250*time.Millisecond, b.lobby)
		v.page.Hang()
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// What the page says is what the lobby did: bytes by part are bytes sent, each client's are what its session had.
func TestLivePageTellsTheTruth(t *testing.T) {
	b, h := windowed(t, 40)
	rng := rand.New(rand.NewPCG(3, 1))
	b.think = func(int) client.Intent {
		return client.Intent{MoveMag: 255, Yaw: geom.Angle(rng.Uint32()), Buttons: sim.Fire}
	}
	b.play(1)
	v, l := &h.view, b.lobby
	v.begin(b.now, l)
	from, out, in, sent := b.now, b.count(metrics.BytesOut), b.count(metrics.BytesIn), b.count(metrics.Sent)
	shots := b.count(metrics.Shots)
	hits := 0
	for range 60 {
		b.turn()
		v.tick(l, time.Millisecond, 2*time.Millisecond)
		for _, hit := range l.match.Outcome().Hits {
			if hit.ID != 0 {
				hits++
			}
		}
	}
	v.fill(b.now, l)
	f, span := v.frame, (b.now - from).Seconds()
	near := func(what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("span", f.Span, span, 1e-9)
	near("down", f.Down, float64(b.count(metrics.BytesOut)-out)/span, float64(metrics.NumSections))
	near("up", f.Up, float64(b.count(metrics.BytesIn)-in)/span, 1)
	near("seals", f.Parts[metrics.SectionSeal]*span/float64(b.count(metrics.Sent)-sent), 19, 1.5) // a tag of 16, a prefix of 2 to 4
	if f.Parts[metrics.SectionPlayer] < f.Parts[metrics.SectionOwner] || f.Parts[metrics.SectionSession] > 0.05*f.Down {
		t.Errorf("parts %v", f.Parts)
	}
	var down, up float64
	for _, p := range f.Players {
		if !p.Here || !p.Body || p.Name != fmt.Sprint("player ", p.Slot) || p.RTT != 0 && p.RTT > 100 || p.LossDown != 0 || p.LossUp != 0 || p.Starved > 20 || p.Down == 0 || p.Up == 0 {
			t.Errorf("%+v", p)
		}
		down, up = down+float64(p.Down), up+float64(p.Up)
	}
	near("clients' share of down", down*125, f.Down, 0.02*f.Down)
	near("clients' share of up", up*125, f.Up, 0.02*f.Up)
	if len(f.Players) != 40 || len(f.Ticks) != 60 || f.Ticks[0].Wall != 2000 || f.Ticks[0].Late != 1000 || f.Tick != uint64(l.match.Tick()) || f.Arena != "arena-16" {
		t.Errorf("%d players, %d ticks, %+v", len(f.Players), len(f.Ticks), f.Ticks[0])
	}
	if len(f.Shots) != min(hits, dash.MaxShots) || len(f.Rays) != min(int(b.count(metrics.Shots)-shots)-hits, dash.MaxRays) {
		t.Errorf("%d shots and %d rays told of %d that hit among %d", len(f.Shots), len(f.Rays), hits, b.count(metrics.Shots)-shots)
	}
	for i := range f.Shots {
		touches(t, &f.Shots[i])
	}
	if len(f.Shots) == 0 {
		t.Error("nobody was hit: nothing is tested")
	}
	if again := v.page.Next(); len(again.Players) != 0 || len(again.Ticks) != 0 { // what was written is not in the next
		t.Errorf("%+v", again)
	}
}

// touches holds a shot to what it says: its ball, at the end of its way, touches that bone of the rewound body.
func touches(t *testing.T, s *dash.Shot) {
	t.Helper()
	if len(s.Then) != int(rig.Bones) || len(s.Now) != int(rig.Bones) || s.Shooter == s.Victim || s.Back <= 0 || s.Back > 500 {
		t.Fatalf("%+v", s)
	}
	for bone := range rig.Bones {
		if bone.String() != s.Bone {
			continue
		}
		c := s.Then[bone]
		a, b, p := geom.Vec3{X: c[0], Y: c[1], Z: c[2]}, geom.Vec3{X: c[3], Y: c[4], Z: c[5]}, geom.Vec3{X: s.To[0], Y: s.To[1], Z: s.To[2]}
		along := max(0, min(1, p.Sub(a).Dot(b.Sub(a))/max(1e-9, b.Sub(a).Dot(b.Sub(a)))))
		if gap := p.Sub(a.Add(b.Sub(a).Scale(along))).Len() - c[6] - s.Radius; gap > 0.005 || gap < -0.005 {
			t.Errorf("the ball is %.3f m from the %s that it hit", gap, s.Bone)
		}
		return
	}
	t.Errorf("bone %q", s.Bone)
}

// A host shows its page, tells frames to who watches, and ends in time though somebody still does.
func TestHostShowsLivePage(t *testing.T) {
	h, stop := running(t, hostConfig("mmsg"))
	at := "http://" + h.HTTPAddr()
	if status, body := ask(t, "GET", at+"/"); status != 200 || !strings.Contains(body, "/dash/page.js") {
		t.Errorf("%d %.80s", status, body)
	}
	if status, body := ask(t, "GET", at+"/dash/map.json"); status != 200 || !strings.Contains(body, `"arena":"arena-16"`) {
		t.Errorf("%d %.80s", status, body)
	}
	if h.view.page.Watched() {
		t.Error("watched by nobody")
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp, err := client.Get(at + "/dash/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	var frames []dash.Frame
	for len(frames) < 3 && lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), `data: {"tick"`); ok {
			var f dash.Frame
			if err := json.Unmarshal([]byte(`{"tick"`+text), &f); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, f)
		}
	}
	if len(frames) < 3 || frames[2].Tick <= frames[1].Tick || len(frames[2].Ticks) == 0 || len(frames[2].Stages) != metrics.NumStages || len(frames[2].Parts) != int(metrics.NumSections) {
		t.Errorf("%+v, %v", frames, lines.Err())
	}
	stop() // fails if it takes longer than two seconds
	for lines.Scan() {
	}
	if h.view.page.Watched() {
		t.Error("still watched")
	}
}

// A client of whose packages every fourth is lost is shown with that.
func TestLivePageShowsLoss(t *testing.T) {
	l := newLab(t, Config{})
	c := l.joined()
	h := &Host{front: &front{start: time.Now()}, lobby: l.lobby, view: newView(l.lobby)}
	defer h.view.close()
	c.plays(30)
	h.view.begin(l.now, l.lobby)
	for n := range 60 {
		if n%4 == 3 {
			_ = c.pack() // sealed by nobody: it is lost
		}
		c.plays(1)
	}
	h.view.fill(l.now, l.lobby)
	if f := h.view.frame; len(f.Players) != 1 || math.Abs(float64(f.Players[0].LossUp)-20) > 2 { // 15 of 75
		t.Errorf("%+v", f.Players)
	}
}

// What a client says of its mispredictions is shown, and nonsense in its place changes nothing.
func TestLivePageShowsMispredictions(t *testing.T) {
	l := newLab(t, Config{})
	c := l.joined()
	for i, told := range []struct {
		note []byte
		want uint32
	}{{sim.AppendMispredictions(nil, 3), 3}, {[]byte{sim.TagMispredictions, 9}, 3}, {[]byte{0x7f}, 3}, {sim.AppendMispredictions(nil, 4_000_000_000), 4_000_000_000}} {
		if err := c.peer.QueueUnreliable(told.note); err != nil {
			t.Fatal(err)
		}
		c.say(c.peer.AppendUnreliable(nil, 100)...)
		l.tick()
		if g := c.state(); g.session.stats.mispredicted != told.want {
			t.Errorf("%d: %d mispredictions, want %d", i, g.session.stats.mispredicted, told.want)
		}
	}
	if l.lobby.Stats.PacketDrops[packet.DropSection].Load() != 0 {
		t.Error("a package was dropped")
	}
}

// The map has every solid once, and a team's areas as such.
func TestLivePageHasTheMap(t *testing.T) {
	m := mapOf(ground(), "here")
	if m.Arena != "here" || len(m.Solids) != len(ground().Solids) || m.Min == m.Max {
		t.Errorf("%s, %d solids from %v to %v", m.Arena, len(m.Solids), m.Min, m.Max)
	}
}

// When the lobby goes on to another map, so does the page.
func TestLivePageFollowsTheMap(t *testing.T) {
	l := newLab(t, Config{})
	h := &Host{lobby: l.lobby, view: newView(l.lobby)}
	defer h.view.close()
	mux := http.NewServeMux()
	h.view.page.Routes(mux)
	shown := func() string {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "/dash/map.json", nil))
		return w.Body.String()[:24]
	}
	if got := shown(); !strings.Contains(got, `"arena":"arena-16"`) {
		t.Errorf("%s", got)
	}
	other, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	h.view.follow(other, "arena-64")
	for end := time.Now().Add(20 * time.Second); !strings.Contains(shown(), `"arena":"arena-64"`); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(shown())
		}
	}
}

// BenchmarkLivePage is what a page that is watched costs: four frames a second, each with what begins it, its ticks and who is there,
// beside the lobby's own ticks.
func BenchmarkLivePage(b *testing.B) {
	for _, players := range []int{32, 256} {
		b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
			t, h := windowed(b, players)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			v, rate := &h.view, int(t.lobby.cfg.Rules.Rate)
			var page, lobby time.Duration
			v.begin(t.now, t.lobby)
			for n := range b.N {
				at := clock.ThreadCPU()
				t.tick()
				lobby += clock.ThreadCPU() - at
				at = clock.ThreadCPU()
				v.tick(t.lobby, 0, 0)
				if n%(rate/showsPerSecond) == 0 {
					v.fill(t.now, t.lobby)
					v.page.Hang()
					v.begin(t.now, t.lobby)
				}
				page += clock.ThreadCPU() - at
				t.exchange()
			}
			b.ReportMetric(float64(page)/float64(b.N), "page-ns/tick")
			b.ReportMetric(100*float64(page)/float64(lobby), "%-of-tick")
		})
	}
}

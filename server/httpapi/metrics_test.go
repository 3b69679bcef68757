package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

// withTable returns docs/metrics.md with the rows of the table of metrics as the table has them.
func withTable(t *testing.T, page string) string {
	const head = "| metric | type | unit | labels | what |\n|---|---|---|---|---|\n"
	before, rows, ok := strings.Cut(page, head)
	_, after, end := strings.Cut(rows, "\n\n")
	if !ok || !end {
		t.Fatalf("docs/metrics.md: expected a table that begins with %q and ends with an empty line", head)
	}
	var b strings.Builder
	for i := range metricTable {
		m := &metricTable[i]
		labels := strings.Join(append([]string{"lobby"}, m.labels...), ", ")
		if m.brief {
			labels += " *every*"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.name, m.kind(), m.unit, labels, m.help)
	}
	return before + head + b.String() + "\n" + after
}

// kind returns the metric's type, by its name and help.
func (m *metric) kind() string {
	switch {
	case strings.HasSuffix(m.name, "_total"):
		return "counter"
	case strings.Contains(m.help, "(native histogram)"):
		return "histogram"
	}
	return "gauge"
}

// docs/metrics.md lists every metric of the registry, and no other.
func TestMetricsAreInTheDocs(t *testing.T) {
	const file = "../../docs/metrics.md"
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := withTable(t, string(got)); *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(got) != want {
		t.Errorf("%s is not what the table says: run this test with -update", file)
	}
	families, err := newTestHost(t, server.Config{Players: 4, SampleEvery: 1}, 2, 130).registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	idle := &PortFigures{Stats: &metrics.Stats{Histograms: metrics.NewHistograms(false)},
		Socket: func() (s netio.Stats) { return s }, Busy: func() float64 { return 0 },
		Moved: func() uint64 { return 0 }, Handed: func() (n server.HandOvers) { return n }}
	port, err := newRegistry(collector{sources: func() []*Source { return nil }, shared: true,
		ports: []*PortFigures{idle, idle}, host: &HostFigures{Lobbies: func() int { return 0 },
			Faults: func() uint64 { return 0 }}})
	if err != nil {
		t.Fatal(err)
	}
	ofPort, err := port.Gather() // fails if two workers have one series
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, f := range append(families, ofPort...) {
		seen[f.GetName()] = strings.ToLower(f.GetType().String())
	}
	for i := range metricTable {
		if m := &metricTable[i]; seen[m.name] != m.kind() {
			t.Errorf("%s is a %q of the registry, and a %s in the docs", m.name, seen[m.name], m.kind())
		}
		delete(seen, metricTable[i].name)
	}
	for name := range seen {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is not in the docs", name)
		}
	}
}

// Names and units keep to Prometheus' conventions, labels to lists, and the number of series does
// not grow with the players.
func TestMetricsKeepTheConventions(t *testing.T) {
	var series [2]int
	for i, players := range []int{2, 12} {
		l := newTestHost(t, server.Config{Players: 12, SampleEvery: 1}, players, 130)
		families, err := l.registry().Gather()
		if err != nil {
			t.Fatal(err)
		}
		problems, err := promlint.NewWithMetricFamilies(families).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if strings.HasPrefix(p.Metric, "tickrate_") {
				t.Errorf("%s: %s", p.Metric, p.Text)
			}
		}
		for _, f := range families {
			// has as many as there are reasons to send
			if strings.HasPrefix(f.GetName(), "tickrate_") &&
				f.GetName() != "tickrate_bandwidth_sampled_bytes_total" &&
				f.GetName() != "tickrate_sampled_objects_total" {
				series[i] += len(f.Metric)
			}
			for _, m := range f.Metric {
				for _, label := range m.Label {
					if strings.Contains(label.GetValue(), l.sim.ClientAddr(0).Addr().String()) {
						t.Errorf("%s names a client: %s", f.GetName(), label.GetValue())
					}
				}
			}
		}
	}
	if series[0] != series[1] || series[0] < 100 || series[0] > 500 {
		t.Errorf("%d series with 2 players, %d with 12", series[0], series[1])
	}
}

// gathered returns the families by name.
func gathered(t *testing.T, r *prometheus.Registry) map[string]*dto.MetricFamily {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*dto.MetricFamily{}
	for _, f := range all {
		by[f.GetName()] = f
	}
	return by
}

// Metrics match the lobby's counters: sections of the byte account are the bytes sent, its cells
// the sampled sections, and histograms have one value for each tick, snapshot, or connection and
// second, in fitting buckets.
func TestMetricsTellTheFigures(t *testing.T) {
	l := newTestHost(t, server.Config{Players: 8, SampleEvery: 3}, 6, 200)
	l.sim.Lobby.Publish()
	l.src.Schedule.SetLevel(overload.HalfRate)
	by := gathered(t, l.registry())
	sum := func(name string) (sum float64) {
		if by[name] == nil {
			t.Fatalf("no %s", name)
		}
		for _, m := range by[name].Metric {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
		return sum
	}
	for i, c := range []struct{ got, want float64 }{
		{sum("tickrate_sent_bytes_total"), float64(l.count(metrics.BytesOut))},
		{sum("tickrate_sent_section_bytes_total"), float64(l.count(metrics.BytesOut))},
		{sum("tickrate_bandwidth_sampled_bytes_total"),
			sum("tickrate_bandwidth_sampled_section_bytes_total")},
		{sum("tickrate_lobby_players"), 6}, {sum("tickrate_lobby_players_ready"), 6},
		{sum("tickrate_lobby_players_max"), 8},
		{sum("tickrate_lobby_load_level"), 1}, {sum("tickrate_lobby_state"), 1},
		{sum("tickrate_tick_period_seconds"), time.Duration(time.Second / 60).Seconds()},
		{sum("tickrate_snapshots_total"), float64(l.count(metrics.Snapshots))},
		{sum("tickrate_received_datagrams_total"), float64(l.count(metrics.Received))},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("figure %d is %g, want %g", i, c.got, c.want)
		}
	}
	if n, all := sum("tickrate_bandwidth_sampled_datagrams_total"),
		sum("tickrate_sent_datagrams_total"); n < all/5 || n > all/2 {
		t.Errorf("%g of %g datagrams sampled, one in 3 should be", n, all)
	}
	ticks := float64(l.sim.Lobby.Match().Tick())
	for name, want := range map[string]float64{"tickrate_tick_cpu_seconds": ticks,
		"tickrate_tick_duration_seconds": ticks,
		"tickrate_snapshot_bytes":        float64(l.count(metrics.Snapshots))} {
		n := by[name].Metric[0].Histogram
		if float64(n.GetSampleCount()) != want {
			t.Errorf("%s has %d values, want %g", name, n.GetSampleCount(), want)
		}
		count, bucket := int64(n.GetZeroCount()), int64(0)
		at := 0
		for _, s := range n.PositiveSpan {
			for range s.GetLength() {
				bucket += n.PositiveDelta[at]
				count += bucket
				at++
			}
		}
		if count != int64(n.GetSampleCount()) || at != len(n.PositiveDelta) {
			t.Errorf("%s: buckets of %d values, want %d", name, count, n.GetSampleCount())
		}
		if last := n.Bucket[len(n.Bucket)-1]; last.GetCumulativeCount() > n.GetSampleCount() {
			t.Errorf("%s: classic buckets of %d values, want %d", name,
				last.GetCumulativeCount(), n.GetSampleCount())
		}
	}
	if n := len(by["tickrate_stage_duration_seconds"].Metric); n != metrics.NumStages {
		t.Errorf("%d stages, want %d", n, metrics.NumStages)
	}
	for _, name := range []string{"tickrate_client_rtt_seconds", "tickrate_input_buffer_seconds"} {
		if n := by[name].Metric[0].Histogram.GetSampleCount(); n < 6*2 || n > 6*5 {
			t.Errorf("%s has %d values of 6 connections in some 3 s", name, n)
		}
	}
	if bytes := by["tickrate_snapshot_bytes"].Metric[0].Histogram.GetSampleSum(); bytes < 0.5*
		float64(l.count(metrics.BytesOut)) || bytes > float64(l.count(metrics.BytesOut)) {
		t.Errorf("snapshots of %g bytes, %d were sent", bytes, l.count(metrics.BytesOut))
	}
}

// Prometheus gets native histograms, and readers of the text format get buckets.
func TestMetricsInBothFormats(t *testing.T) {
	pages := newTestHost(t, server.Config{Players: 4}, 2, 60).pages("")
	get := func(accept string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", "/metrics", nil), httptest.NewRecorder()
		r.Header.Set("Accept", accept)
		pages.ServeHTTP(w, r)
		return w
	}
	text := get("text/plain").Body.String()
	for _, want := range []string{`tickrate_tick_cpu_seconds_bucket{lobby="0",le="0.015625"}`,
		`tickrate_stage_cpu_seconds_count{lobby="0",stage="move"}`, "go_goroutines"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	const native = "application/vnd.google.protobuf;" +
		"proto=io.prometheus.client.MetricFamily;encoding=delimited"
	if w := get(native); w.Code != 200 ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "application/vnd.google.protobuf") {
		t.Errorf("asked for protobuf, got %d %s", w.Code, w.Header())
	}
}

// stuck is a reader that never reads.
type stuck struct {
	header http.Header
	began  chan<- string
	page   string
	end    <-chan struct{}
}

func (s *stuck) Header() http.Header { return s.header }
func (s *stuck) WriteHeader(int)     {}
func (s *stuck) Write(p []byte) (int, error) {
	select {
	case <-s.end:
	default:
		s.began <- s.page
		<-s.end
	}
	return len(p), nil
}

// A port runs a few scrapes at a time, whatever they ask for, and bounds the size of an answer.
func TestScrapesAreBounded(t *testing.T) {
	l := newTestHost(t, server.Config{Players: 8}, 1, 60)
	pages := l.pages("")
	began, end, gone := make(chan string, 100), make(chan struct{}), make(chan struct{}, 100)
	asked := []string{"/metrics", "/metrics?full=1", "/metrics?full=0", "/metrics?lobby=" + LobbyName}
	if len(asked) != maxScrapes {
		t.Fatal("one reader for each scrape")
	}
	for _, page := range asked {
		go func() {
			pages.ServeHTTP(&stuck{http.Header{}, began, page, end}, httptest.NewRequest("GET", page, nil))
			gone <- struct{}{}
		}()
	}
	for range asked {
		<-began
	}
	status := func(page string) int {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", page, nil))
		return w.Code
	}
	for _, page := range asked {
		if got := status(page); got != http.StatusServiceUnavailable {
			t.Errorf("%s beside %d scrapes: %d", page, maxScrapes, got)
		}
	}
	close(end)
	for range asked {
		<-gone
	}
	for page, want := range map[string]int{"/metrics?full=128": 200, "/metrics?full=129": 400,
		"/metrics?full=65535": 400, "/metrics?lobby=none": 404, "/metrics": 200} {
		if got := status(page); got != want {
			t.Errorf("%s: %d", page, got)
		}
	}
}

// Readers that request every page and never read do not block the tick, and other requests are
// still answered.
func TestStuckReadersCostTheTickNothing(t *testing.T) {
	l := newTestHost(t, server.Config{Players: 8}, 4, 60)
	pages := l.pages("")
	began, end, gone := make(chan string, 100), make(chan struct{}), make(chan struct{}, 100)
	asked := []string{"/metrics", "/metrics", "/stats", "/stats", "/v1/bandwidth",
		"/v1/bandwidth", "/healthz", "/healthz/ready",
		fmt.Sprintf("/v1/explain?client=%d&entity=%d", l.sim.Clients[0].ID(), l.sim.Clients[1].ID())}
	for _, page := range asked {
		go func() {
			pages.ServeHTTP(&stuck{http.Header{}, began, page, end}, httptest.NewRequest("GET", page, nil))
			gone <- struct{}{}
		}()
	}
	for n := 0; n < len(asked); {
		select {
		case <-began:
			n++
		default:
			l.between()
			simtest.Steps(t, l.sim, 1)
		}
	}
	tick := l.sim.Lobby.Match().Tick()
	for range 240 {
		l.between()
		simtest.Steps(t, l.sim, 1)
	}
	if l.sim.Lobby.Match().Tick() < tick+240 {
		t.Errorf("%d ticks", l.sim.Lobby.Match().Tick()-tick)
	}
	for _, page := range []string{"/metrics", "/stats", "/v1/bandwidth", "/healthz/ready"} {
		w := httptest.NewRecorder()
		if pages.ServeHTTP(w, httptest.NewRequest("GET", page, nil)); w.Body.Len() == 0 {
			t.Errorf("%s: no answer while others are stuck", page)
		}
	}
	close(end)
	for range asked {
		<-gone
	}
}

// Health reports whether ticks go on, readiness whether players can join.
func TestHealthByState(t *testing.T) {
	l := newTestHost(t, server.Config{Players: 3}, 3, 60)
	l.sim.Leave(2)
	simtest.Steps(t, l.sim, 10)
	pages := l.pages("")
	for i, c := range []struct {
		does  func()
		state string
		alive int
		ready int
	}{
		{func() {}, "starting", 200, 503},
		{func() { l.src.Schedule.Begin(l.src.Clock() + 1); l.sim.Lobby.Publish() }, "open", 200, 200},
		{func() { l.src.Schedule.SetLevel(overload.NoNewPlayers) }, "shedding", 200, 503},
		{func() {
			l.src.Schedule.SetLevel(overload.Normal)
			must(t, l.sim.Connect(2))
			simtest.Steps(t, l.sim, 60)
			l.sim.Lobby.Publish()
		}, "full", 200, 503},
		{func() { l.start = l.start.Add(-2 * stuckAfter) }, "stuck", 503, 503},
		{func() { close(l.ended) }, "ended", 503, 503},
	} {
		c.does()
		w, r := httptest.NewRecorder(), httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
		pages.ServeHTTP(r, httptest.NewRequest("GET", "/healthz/ready", nil))
		var is Readiness
		if err := json.Unmarshal(r.Body.Bytes(), &is); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.alive || r.Code != c.ready || is.Ready != (c.ready == 200) ||
			is.Lobbies[0].State != c.state || is.Lobbies[0].PlayerSlots != 3 {
			t.Errorf("%d: health %d, readiness %d %+v, want %d, %d, %s", i, w.Code,
				r.Code, is, c.alive, c.ready, c.state)
		}
	}
}

// The goroutine of the ticks has the profiler labels of its stage, without allocating. During a
// trace it has regions too.
func TestStagesAreMarked(t *testing.T) {
	m := NewStageLabels("7")
	m.Always() // as while a profile runs
	seen := map[metrics.Stage]bool{}
	l := newTestHost(t, server.Config{Players: 4, Kbps: 64, EnterStage: func(s metrics.Stage) {
		seen[s] = true
		m.Enter(s)
	}}, 3, 30)
	for s := range metrics.StageIdle + 1 {
		if !seen[s] {
			t.Errorf("stage %v was never entered", s)
		}
	}
	if n := alloctest.In(100, func() { m.Enter(metrics.StageSnapshot) }); n != 0 {
		t.Errorf("%g allocations to mark a stage", n)
	}
	var goroutines, traced bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&goroutines, 1); err != nil {
		t.Fatal(err)
	}
	if want := `{"lobby":"7", "stage":"snapshot"}`; !strings.Contains(goroutines.String(), want) {
		t.Errorf("no goroutine with labels %s", want)
	}
	m.profiles.Add(-1)
	m.Enter(metrics.StageSnapshot)
	goroutines.Reset()
	if err := pprof.Lookup("goroutine").WriteTo(&goroutines, 1); err != nil {
		t.Fatal(err)
	}
	if want := `{"lobby":"7"}`; m.marked || !strings.Contains(goroutines.String(), want) {
		t.Errorf("after the profile no goroutine has %s", want)
	}
	if err := trace.Start(&traced); err != nil {
		t.Skip(err) // of the test itself
	}
	simtest.Steps(t, l.sim, 6)
	trace.Stop()
	simtest.Steps(t, l.sim, 2)
	pprof.SetGoroutineLabels(context.Background())
	for _, s := range []string{"lobby 7 tick", "lobby 7 snapshot", "lobby 7 receive", "lobby 7 move"} {
		if !strings.Contains(traced.String(), s) {
			t.Errorf("no region %q in the trace", s)
		}
	}
	if m.region.Open() || m.tick.Open() {
		t.Error("a region is open after the trace")
	}
}

// Coarse regions are of a few groups of stages.
func TestCoarseRegions(t *testing.T) {
	m, traced := NewStageLabels("7"), new(bytes.Buffer)
	m.CoarseRegions()
	if err := trace.Start(traced); err != nil {
		t.Skip(err) // of the test itself
	}
	for s := range metrics.StageIdle + 1 {
		m.Enter(s)
	}
	trace.Stop()
	for s := range metrics.StageIdle + 1 {
		want := s == metrics.StageReceive || s == metrics.StageCapture || s == metrics.StageSnapshot
		if got := strings.Contains(traced.String(), "lobby 7 "+s.String()); got != want {
			t.Errorf("region of %v: %v, want %v", s, got, want)
		}
	}
	for _, want := range []string{"lobby 7 tick", "lobby 7 match"} {
		if !strings.Contains(traced.String(), want) {
			t.Errorf("no region %q", want)
		}
	}
}

// Explanations come from the goroutine of the lobby, for callers with the secret. A bad net id is
// refused.
func TestExplainOverHTTP(t *testing.T) {
	l := newTestHost(t, server.Config{Players: 4}, 2, 60)
	get := func(secret, query, bring string) *httptest.ResponseRecorder {
		w, done := httptest.NewRecorder(), make(chan struct{})
		r := httptest.NewRequest("GET", "/v1/explain?"+query, nil)
		r.Host = "127.0.0.1:1"
		if bring != "" {
			r.Header.Set("Authorization", "Bearer "+bring)
		}
		go func() { Guard(l.pages(secret), Access{secret == "", secret}, nil).ServeHTTP(w, r); close(done) }()
		for {
			select {
			case <-done:
				return w
			default:
				l.between()
			}
		}
	}
	query := fmt.Sprintf("client=%d&entity=%d", l.sim.Clients[0].ID(), l.sim.Clients[1].ID())
	var one ExplainReply
	w := get("", query, "")
	if err := json.Unmarshal(w.Body.Bytes(), &one); w.Code != 200 || err != nil ||
		one.Version != Version || len(one.Explanations) != 1 {
		t.Fatalf("%d %s: %+v %v", w.Code, w.Body, one, err)
	}
	v := one.Explanations[0]
	if v.Reason != server.ReasonSent || v.Client != uint32(l.sim.Clients[0].ID()) || v.Tick == 0 {
		t.Errorf("%+v", v)
	}
	for query, want := range map[string]int{"": 400, "client=1": 200, "client=1&entity=cube:x": 400,
		"client=1&entity=cube:0": 200, "client=0&entity=1": 400, "client=-1&entity=1": 404,
		"client=99999999999&entity=1": 404, "client=slot:0&entity=slot:1": 200, "client=slot:9": 404,
		"client=client:1": 200, "client=nobody": 404, "client=77&entity=78": 200,
		"client=0.1&entity=1.1": 200, "client=0.0&entity=1.1": 400} {
		if w := get("", query, ""); w.Code != want {
			t.Errorf("%q: %d %s, want %d", query, w.Code, w.Body, want)
		}
	}
	var all ExplainReply
	w = get("", fmt.Sprintf("client=%d", l.sim.Clients[0].ID()), "")
	err := json.Unmarshal(w.Body.Bytes(), &all)
	players := slices.DeleteFunc(all.Explanations, func(v server.Explanation) bool { return v.Object != "" })
	if err != nil || len(players) != 2 || players[1] != v && players[0] != v {
		t.Errorf("about all: %s", w.Body)
	}
	if w := get("s", query, ""); w.Code != 401 {
		t.Errorf("without the secret: %d", w.Code)
	}
	if w := get("s", query, "s"); w.Code != 200 {
		t.Errorf("with the secret: %d", w.Code)
	}
	here := httptest.NewRecorder()
	// as Guard lets pass on a loopback port
	l.pages("s").ServeHTTP(here, httptest.NewRequest("GET", "/v1/explain?"+query, nil))
	if here.Code != 401 {
		t.Errorf("from this machine, without the secret: %d", here.Code)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

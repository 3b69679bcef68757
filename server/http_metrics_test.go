package server

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
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/metrics"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/overload"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

// shell puts a host without sockets around a lab's lobby, whose ticks the test plays.
func (l *lab) shell() *Host {
	l.t.Helper()
	h := &Host{front: &front{conn: l.conn, start: time.Now(), log: newLogbook(nil)}, lobby: l.lobby, terminal: newTerminal(), marker: newMarker(lobbyName),
		rates: ClockConfig{Simulation: l.lobby.cfg.Rules.Rate}, interval: l.lobby.cfg.SendInterval, delays: metrics.NewSeconds(), lateness: meter.NewHistogram(0), raw: meter.NewHistogram(0), wall: meter.NewHistogram(0)}
	var err error
	if h.registry, err = newRegistry(h); err != nil {
		l.t.Fatal(err)
	}
	return h
}

// busy is a lab with so many connections who play, for so many ticks.
func busy(t testing.TB, cfg Config, guests, ticks int) *lab {
	t.Helper()
	begin := time.Now()
	cfg.Clock = func() time.Duration { return time.Since(begin) }
	l := newLab(t, cfg)
	for range guests {
		l.joined()
	}
	for range ticks {
		for _, c := range l.callers {
			c.play()
		}
		l.tick()
	}
	return l
}

// docs is docs/metrics.md as the table has it.
func docs() []byte {
	var b bytes.Buffer
	b.WriteString(`# Metrics

` + "`tickrate serve --http HOST:PORT`" + ` answers Prometheus on /metrics. This page is written from the table in server/http_metrics.go by
` + "`go test ./server -run TestMetricsAreInTheDocs -update`" + `, and the test holds the two together.

Every series has the label ` + "`lobby`" + `; the others come from lists that are fixed at build time, and none is a client, so the number of
series does not grow with the players. Native histograms (scrape with ` + "`scrape_native_histograms: true`" + `) have 8 buckets for each
power of two; whoever reads the text format gets buckets a factor of 4 wide. Beside these there are the standard metrics of the Go runtime and of
the process (` + "`go_`, `process_`" + `).

| metric | type | unit | labels | what |
|---|---|---|---|---|
`)
	for i := range metricTable {
		m := &metricTable[i]
		labels := strings.Join(append([]string{"lobby"}, m.labels...), ", ")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.name, m.kind(), m.unit, labels, m.help)
	}
	b.WriteString(`
What the ledger samples is exact for the datagrams that it samples: the cells of a section add up to its sampled bytes. To see how all that is
sent divides, let the exact sections scale it:

    sum by (component, field) (rate(tickrate_ledger_sampled_bytes_total[5m]))
      / on (component) group_left label_replace(rate(tickrate_ledger_sampled_section_bytes_total[5m]), "component", "$1", "section", "(.*)")
      * on (component) group_left label_replace(rate(tickrate_sent_section_bytes_total[5m]), "component", "$1", "section", "(.*)")
`)
	return b.Bytes()
}

// kind is the metric's type, by its name and help.
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
	const file = "../docs/metrics.md"
	if *update {
		if err := os.WriteFile(file, docs(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, docs()) {
		t.Errorf("%s is not what the table says: run this test with -update", file)
	}
	families, err := busy(t, Config{Players: 4, SampleEvery: 1}, 2, 130).shell().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, f := range families {
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

// Names and units keep to Prometheus' conventions, labels to lists, and the number of series does not grow with the players.
func TestMetricsKeepTheConventions(t *testing.T) {
	var series [2]int
	for i, players := range []int{2, 12} {
		l := busy(t, Config{Players: 12, SampleEvery: 1}, players, 130)
		families, err := l.shell().registry.Gather()
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
			if strings.HasPrefix(f.GetName(), "tickrate_") && f.GetName() != "tickrate_ledger_sampled_bytes_total" { // has as many as there are reasons to send
				series[i] += len(f.Metric)
			}
			for _, m := range f.Metric {
				for _, label := range m.Label {
					if strings.Contains(label.GetValue(), l.callers[0].addr().Addr().String()) {
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

// gathered is the families by name.
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

// What is told is what the lobby counts: the ledger's sections are the bytes, its cells the sampled sections, and histograms have
// one value for each tick, snapshot, or connection and second, in buckets that fit.
func TestMetricsTellTheFigures(t *testing.T) {
	l := busy(t, Config{Players: 8, SampleEvery: 3}, 6, 200)
	l.lobby.Publish()
	h := l.shell()
	h.shed.Store(int32(overload.HalfRate))
	by := gathered(t, h.registry)
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
		{sum("tickrate_ledger_sampled_bytes_total"), sum("tickrate_ledger_sampled_section_bytes_total")},
		{sum("tickrate_lobby_players"), 6}, {sum("tickrate_lobby_players_ready"), 6}, {sum("tickrate_lobby_players_max"), 8},
		{sum("tickrate_lobby_shed_level"), 1}, {sum("tickrate_lobby_state"), 1},
		{sum("tickrate_tick_period_seconds"), time.Duration(time.Second / 60).Seconds()},
		{sum("tickrate_snapshots_total"), float64(l.count(metrics.Snapshots))},
		{sum("tickrate_received_datagrams_total"), float64(l.count(metrics.Received))},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("figure %d is %g, want %g", i, c.got, c.want)
		}
	}
	if n, all := sum("tickrate_ledger_sampled_datagrams_total"), sum("tickrate_sent_datagrams_total"); n < all/5 || n > all/2 {
		t.Errorf("%g of %g datagrams sampled, one in 3 should be", n, all)
	}
	ticks := float64(l.lobby.match.Tick())
	for name, want := range map[string]float64{"tickrate_tick_cpu_seconds": ticks, "tickrate_tick_duration_seconds": ticks,
		"tickrate_snapshot_bytes": float64(l.count(metrics.Snapshots))} {
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
			t.Errorf("%s: classic buckets of %d values, want %d", name, last.GetCumulativeCount(), n.GetSampleCount())
		}
	}
	if n := len(by["tickrate_stage_duration_seconds"].Metric); n != metrics.NumStages {
		t.Errorf("%d stages, want %d", n, metrics.NumStages)
	}
	for _, name := range []string{"tickrate_client_rtt_seconds", "tickrate_input_buffer_seconds"} {
		if n := by[name].Metric[0].Histogram.GetSampleCount(); n < 6*2 || n > 6*5 {
			t.Errorf("%s has %d values of 6 guests in some 3 s", name, n)
		}
	}
	if bytes := by["tickrate_snapshot_bytes"].Metric[0].Histogram.GetSampleSum(); bytes < 0.5*float64(l.count(metrics.BytesOut)) || bytes > float64(l.count(metrics.BytesOut)) {
		t.Errorf("snapshots of %g bytes, %d were sent", bytes, l.count(metrics.BytesOut))
	}
}

// Prometheus gets native histograms, and who reads text gets buckets.
func TestMetricsInBothFormats(t *testing.T) {
	pages := busy(t, Config{Players: 4}, 2, 60).shell().pages("")
	get := func(accept string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", "/metrics", nil), httptest.NewRecorder()
		r.Header.Set("Accept", accept)
		pages.ServeHTTP(w, r)
		return w
	}
	text := get("text/plain").Body.String()
	for _, want := range []string{`tickrate_tick_cpu_seconds_bucket{lobby="0",le="0.015625"}`, `tickrate_stage_cpu_seconds_count{lobby="0",stage="move"}`, "go_goroutines"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	const native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
	if w := get(native); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/vnd.google.protobuf") {
		t.Errorf("asked for protobuf, got %d %s", w.Code, w.Header())
	}
}

// stuck is a reader who takes nothing.
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

// Readers who ask for every page and take nothing cost the tick nothing: it goes on without waiting and allocates nothing, and others are
// still answered.
func TestStuckReadersCostTheTickNothing(t *testing.T) {
	l := busy(t, Config{Players: 8}, 4, 60)
	h := l.shell()
	pages := h.pages("")
	began, end, gone := make(chan string, 100), make(chan struct{}), make(chan struct{}, 100)
	asked := []string{"/metrics", "/metrics", "/stats", "/stats", "/v1/bits", "/v1/bits", "/healthz", "/healthz/ready",
		fmt.Sprintf("/v1/why?client=%d&entity=%d", l.callers[0].id(), l.callers[1].id())}
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
			for _, c := range l.callers {
				c.play()
			}
			h.lines(l.now)
			l.tick()
		}
	}
	tick, least := l.lobby.match.Tick(), ^uint64(0)
	for range 4 { // now and then the runtime allocates something itself
		least = min(least, l.allocates(60, func() {
			for _, c := range l.callers {
				c.play()
			}
			h.lines(l.now)
		}))
	}
	if least != 0 {
		t.Errorf("%d allocations in 60 ticks", least)
	}
	if l.lobby.match.Tick() < tick+240 {
		t.Errorf("%d ticks", l.lobby.match.Tick()-tick)
	}
	for _, page := range []string{"/metrics", "/stats", "/v1/bits", "/healthz/ready"} {
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

// The ledger of who is just being copied is published a second later, and the tick does not wait.
func TestPublishWaitsForNobody(t *testing.T) {
	l := busy(t, Config{Players: 4, SampleEvery: 1}, 2, 60)
	l.lobby.Publish()
	was := l.lobby.Summary()
	l.lobby.account.mu.Lock()
	l.ticks(120)
	l.lobby.Publish()
	l.lobby.account.mu.Unlock()
	if now := l.lobby.Summary(); now.Bandwidth.Bytes != was.Bandwidth.Bytes {
		t.Errorf("published %d bytes over somebody who reads %d", now.Bandwidth.Bytes, was.Bandwidth.Bytes)
	}
	l.lobby.Publish()
	if now := l.lobby.Summary(); now.Bandwidth.Bytes <= was.Bandwidth.Bytes || now.Bandwidth.Bytes != l.count(metrics.BytesOut) {
		t.Errorf("%d bytes in the ledger, was %d, sent %d", now.Bandwidth.Bytes, was.Bandwidth.Bytes, l.count(metrics.BytesOut))
	}
}

// Health says whether ticks go on, readiness whether players find a place.
func TestHealthByState(t *testing.T) {
	l := busy(t, Config{Players: 3}, 2, 60)
	h := l.shell()
	pages := h.pages("")
	for i, c := range []struct {
		does  func()
		state string
		alive int
		ready int
	}{
		{func() {}, "starting", 200, 503},
		{func() { h.began.Store(int64(h.clock()) + 1); l.lobby.Publish() }, "open", 200, 200},
		{func() { h.shed.Store(int32(overload.NoNewPlayers)) }, "shedding", 200, 503},
		{func() { h.shed.Store(0); l.joined(); l.ticks(3); l.lobby.Publish() }, "full", 200, 503},
		{func() { h.start = h.start.Add(-2 * stuckAfter) }, "stuck", 503, 503},
		{func() { close(h.terminal.ended) }, "ended", 503, 503},
	} {
		c.does()
		w, r := httptest.NewRecorder(), httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
		pages.ServeHTTP(r, httptest.NewRequest("GET", "/healthz/ready", nil))
		var is Readiness
		if err := json.Unmarshal(r.Body.Bytes(), &is); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.alive || r.Code != c.ready || is.Ready != (c.ready == 200) || is.Lobbies[0].State != c.state || is.Lobbies[0].Room != 3 {
			t.Errorf("%d: health %d, readiness %d %+v, want %d, %d, %s", i, w.Code, r.Code, is, c.alive, c.ready, c.state)
		}
	}
}

// The goroutine of the ticks has the labels of the stage it is in, which takes no memory; while a trace runs it has regions, too.
func TestStagesAreMarked(t *testing.T) {
	m := newMarker("7")
	m.profiles.Add(1) // as one that is being taken
	seen := map[metrics.Stage]bool{}
	l := busy(t, Config{Players: 4, Kbps: 64, EnterStage: func(s metrics.Stage) { seen[s] = true; m.enter(s) }}, 3, 30)
	for s := range metrics.StageIdle + 1 {
		if !seen[s] {
			t.Errorf("stage %v was never entered", s)
		}
	}
	if n := testing.AllocsPerRun(100, func() { m.enter(metrics.StageSnapshot) }); n != 0 {
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
	m.enter(metrics.StageSnapshot)
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
	l.ticks(6)
	trace.Stop()
	l.ticks(2)
	pprof.SetGoroutineLabels(context.Background())
	for _, s := range []string{"lobby 7 snapshot", "lobby 7 receive", "lobby 7 move"} {
		if !strings.Contains(traced.String(), s) {
			t.Errorf("no region %q in the trace", s)
		}
	}
	if m.region != nil {
		t.Error("a region is open after the trace")
	}
}

// Who asks why gets an answer of the tick's goroutine, if he may; what cannot be a net id is refused.
func TestWhyOverHTTP(t *testing.T) {
	l := busy(t, Config{Players: 4}, 2, 60)
	h := l.shell()
	get := func(secret, query, bring string) *httptest.ResponseRecorder {
		w, done := httptest.NewRecorder(), make(chan struct{})
		r := httptest.NewRequest("GET", "/v1/why?"+query, nil)
		r.Host = "127.0.0.1:1"
		if bring != "" {
			r.Header.Set("Authorization", "Bearer "+bring)
		}
		go func() { guarded(h.pages(secret), secret == "", secret, nil).ServeHTTP(w, r); close(done) }()
		for {
			select {
			case <-done:
				return w
			default:
				h.lines(l.now)
			}
		}
	}
	query := fmt.Sprintf("client=%d&entity=%d", l.callers[0].id(), l.callers[1].id())
	var v Explanation
	w := get("", query, "")
	if err := json.Unmarshal(w.Body.Bytes(), &v); w.Code != 200 || err != nil || v.Reason != ReasonSent || v.Client != uint32(l.callers[0].id()) || v.Tick == 0 {
		t.Errorf("%d %s: %+v %v", w.Code, w.Body, v, err)
	}
	for query, want := range map[string]int{"": 400, "client=1": 200, "client=1&entity=cube:x": 400, "client=1&entity=cube:0": 200, "client=0&entity=1": 400, "client=-1&entity=1": 400, "client=99999999999&entity=1": 400, "client=77&entity=78": 200, "client=0.1&entity=1.1": 200, "client=0.0&entity=1.1": 400} {
		if w := get("", query, ""); w.Code != want {
			t.Errorf("%q: %d %s, want %d", query, w.Code, w.Body, want)
		}
	}
	var all []Explanation
	if w := get("", fmt.Sprintf("client=%d", l.callers[0].id()), ""); json.Unmarshal(w.Body.Bytes(), &all) != nil || len(all) != 2 || all[1] != v && all[0] != v {
		t.Errorf("about all: %s", w.Body)
	}
	if w := get("s", query, ""); w.Code != 401 {
		t.Errorf("without the secret: %d", w.Code)
	}
	if w := get("s", query, "s"); w.Code != 200 {
		t.Errorf("with the secret: %d", w.Code)
	}
	here := httptest.NewRecorder()
	h.pages("s").ServeHTTP(here, httptest.NewRequest("GET", "/v1/why?"+query, nil)) // as guarded lets pass on a port that only this machine can reach
	if here.Code != 401 {
		t.Errorf("from this machine, without the secret: %d", here.Code)
	}
}

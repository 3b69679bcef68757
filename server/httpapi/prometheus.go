package httpapi

import (
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// maxScrapes bounds the scrapes of a port that run at a time, whatever they ask for. A scrape reads
// atomics, and copies that the tick publishes once a second; the tick never waits for one.
const maxScrapes = 4

// fullLobbies is the number of lobbies with all metrics in one answer, unless it asks for another; the
// others have the brief ones, see metric.brief. A lobby has 1700 series in full, and 21 in brief.
const fullLobbies = 16

// maxFullLobbies bounds what one answer may ask for: 128 lobbies in full are 14 MB and 0.4 s of CPU.
const maxFullLobbies = 128

// collector exports the figures of lobbies. Labels are the lobby, the stage, and words of lists that
// are fixed at build time, never a client: the number of series does not grow with the players.
type collector struct {
	sources func() []*Source
	full    int            // the first of them have all metrics, the others the brief ones
	host    *HostFigures   // nil: one lobby alone
	ports   []*PortFigures // by worker; exported under the lobby PortName
	shared  bool           // the lobbies share a port, which has the figures of the socket
}

// sink takes the values of one metric.
type sink struct {
	*Source
	ch      chan<- prometheus.Metric
	figures *metrics.Stats
	summary *server.Summary
	metric  *metric
	port    *PortFigures // nil: of a lobby
}

// counter exports one series of a counter; labels follow the lobby's, in the metric's order.
func (s *sink) counter(v float64, labels ...string) {
	for i, l := range labels {
		labels[i] = strings.TrimPrefix(l, s.metric.strip)
	}
	s.ch <- prometheus.MustNewConstMetric(s.metric.desc, prometheus.CounterValue, v,
		append([]string{s.Name}, labels...)...)
}

// gauge exports one series of a gauge.
func (s *sink) gauge(v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(s.metric.desc, prometheus.GaugeValue, v,
		append([]string{s.Name}, labels...)...)
}

// native exports one series of a native histogram, with the unit of its values.
func (s *sink) native(n *meter.Native, labels ...string) {
	s.ch <- &nativeHistogram{
		desc: s.metric.desc, count: n.Read(), classic: s.metric.classic(),
		labels: append([]string{s.Name}, labels...), names: append([]string{"lobby"}, s.metric.labels...),
	}
}

// stats are the figures of the lobby, or of the port.
func (s *sink) stats() *metrics.Stats { return s.figures }

// read is how a metric gets its values.
type read func(*sink)

// counts exports counters; with a label, one series each.
func counts(of ...metrics.Count) read {
	return func(s *sink) {
		for _, c := range of {
			v := float64(s.stats().Count[c].Load())
			if len(s.metric.labels) > 0 {
				s.counter(v, c.String())
			} else {
				s.counter(v)
			}
		}
	}
}

// natives exports one histogram of the lobby.
func natives(of func(*metrics.Stats) *meter.Native) read {
	return func(s *sink) { s.native(of(s.stats())) }
}

// byStage exports one histogram per stage of the tick.
func byStage(of func(*metrics.Stats) []*meter.Native) read {
	return func(s *sink) {
		for i, n := range of(s.stats()) {
			s.native(n, metrics.Stage(i).String())
		}
	}
}

// byReason exports counters by reason, from the first that is one.
func byReason[R interface {
	~int | ~uint8 | ~int32
	String() string
}](first R, of func(*metrics.Stats) []meter.Counter) read {
	return func(s *sink) {
		all := of(s.stats())
		for r := first; int(r) < len(all); r++ {
			s.counter(float64(all[r].Load()), r.String())
		}
	}
}

// census exports a count of players as of the last second.
func census(of func(*server.Census) int) read {
	return func(s *sink) { s.gauge(float64(of(&s.summary.Census))) }
}

// schedule exports a counter of the tick loop.
func schedule(of func(*metrics.Schedule) *meter.Counter) read {
	return func(s *sink) { s.counter(float64(of(s.Schedule).Load())) }
}

// bySection exports a counter per section of the packets.
func bySection(of func(*metrics.Bandwidth) *[metrics.NumSections]uint64) read {
	return func(s *sink) {
		for i, n := range of(&s.summary.Bandwidth) {
			s.counter(float64(n), metrics.Section(i).String())
		}
	}
}

// Describe is of prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range metricTable {
		ch <- metricTable[i].desc
	}
}

// Collect is of prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	for n, src := range c.sources() {
		summary := src.Lobby.Summary()
		for i := range metricTable {
			if m := &metricTable[i]; m.ofSource(c.shared) && (n < c.full || m.brief) {
				m.read(&sink{Source: src, ch: ch, figures: &src.Lobby.Stats, summary: &summary, metric: m})
			}
		}
	}
	for n, port := range c.ports {
		src := &Source{Name: portName(n, len(c.ports)), Socket: port.Socket, Host: c.host}
		for i := range metricTable {
			if m := &metricTable[i]; m.of != ofLobby && (m.of != ofHost || n == 0) {
				m.read(&sink{Source: src, ch: ch, figures: port.Stats, metric: m, port: port})
			}
		}
	}
}

// ofSource reports whether a lobby has the metric.
func (m *metric) ofSource(shared bool) bool { return m.of <= ofBoth || m.of != ofWorker && !shared }

// nativeHistogram is a native histogram with some classic buckets for readers of the text format.
type nativeHistogram struct {
	desc          *prometheus.Desc
	names, labels []string
	count         meter.NativeCount
	classic       func(at int) bool // see classicBound
}

// Desc is of prometheus.Metric.
func (d *nativeHistogram) Desc() *prometheus.Desc { return d.desc }

// Write is of prometheus.Metric.
func (d *nativeHistogram) Write(out *dto.Metric) error {
	for i, name := range d.names {
		out.Label = append(out.Label, &dto.LabelPair{Name: new(name), Value: new(d.labels[i])})
	}
	n := &d.count
	h := &dto.Histogram{
		SampleCount: new(n.Count), SampleSum: new(n.Sum), Schema: new(int32(meter.NativeSchema)),
		ZeroThreshold: new(math.Ldexp(1, -128)), ZeroCount: new(n.Zero),
	}
	sum, last, gap, open := n.Zero, int64(0), int32(n.Lowest), false
	for i, c := range n.Counts {
		sum += c
		if at := n.Lowest + i; d.classic(at) && i < len(n.Counts)-1 {
			h.Bucket = append(h.Bucket, &dto.Bucket{CumulativeCount: new(sum), UpperBound: new(nativeBound(at))})
		}
		if c == 0 {
			gap++
			open = false
			continue
		}
		if !open {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(gap), Length: new(uint32(0))})
			gap, open = 0, true
		}
		*h.PositiveSpan[len(h.PositiveSpan)-1].Length++
		h.PositiveDelta = append(h.PositiveDelta, int64(c)-last)
		last = int64(c)
	}
	if len(h.PositiveSpan) == 0 { // an empty one would be taken for a classic histogram
		h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(int32(0)),
			Length: new(uint32(0))})
	}
	out.Histogram = h
	return nil
}

// newRegistry returns the metrics of a host, of its process and of Go's runtime.
func newRegistry(lobbies collector) (*prometheus.Registry, error) {
	r := prometheus.NewRegistry()
	process := collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
	for _, c := range []prometheus.Collector{lobbies, collectors.NewGoCollector(), process} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return r, nil
}

// metricsHandler answers Prometheus.
func metricsHandler(r *prometheus.Registry) http.Handler {
	opts := promhttp.HandlerOpts{ErrorLog: log.New(io.Discard, "", 0)}
	return promhttp.HandlerFor(r, opts)
}

// limitScrapes answers 503 to a request beyond the maxScrapes that run.
func limitScrapes(h http.HandlerFunc) http.HandlerFunc {
	running := make(chan struct{}, maxScrapes)
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case running <- struct{}{}:
			defer func() { <-running }()
			h(w, r)
		default:
			http.Error(w, fmt.Sprintf("%d scrapes are running: expected fewer, try again", maxScrapes),
				http.StatusServiceUnavailable)
		}
	}
}

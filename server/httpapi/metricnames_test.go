package httpapi

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server"
)

// ownFamilies are the metrics of a host in play, without those of Go and the process.
func ownFamilies(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	all := gathered(t, newTestHost(t, server.Config{Players: 4, SampleEvery: 1}, 3, 200).registry())
	for name := range all {
		if !strings.HasPrefix(name, "tickrate_") {
			delete(all, name)
		}
	}
	return all
}

// Names and values of labels are words, and none repeats what the name before it says.
func TestMetricNamesAndLabelsAreWords(t *testing.T) {
	word := regexp.MustCompile(`^([a-z0-9][a-z0-9_.-]*)?$`)
	values := 0
	for name, f := range ownFamilies(t) {
		words := strings.Split(name, "_")
		for i, w := range words {
			if slices.Contains(words[:i], w) {
				t.Errorf("%s has the word %s twice", name, w)
			}
		}
		first := map[string]map[string]int{} // by label: values by their first word
		for _, m := range f.Metric {
			for _, l := range m.Label {
				values++
				if !word.MatchString(l.GetValue()) {
					t.Errorf("%s: %s=%q is no word", name, l.GetName(), l.GetValue())
				}
				if head, _, ok := strings.Cut(l.GetValue(), "_"); ok {
					if first[l.GetName()] == nil {
						first[l.GetName()] = map[string]int{}
					}
					first[l.GetName()][head]++
				}
			}
		}
		for label, heads := range first {
			for head, n := range heads {
				if n > 3 && n > len(f.Metric)/2 {
					t.Errorf("%s: %d of %d values of %s begin with %s_", name, n, len(f.Metric), label, head)
				}
			}
		}
	}
	if values < 500 {
		t.Errorf("only %d values were looked at", values)
	}
}

// A classic bucket ends within 9 % of each multiple of the usual periods that an operator asks for,
// and buckets count what native ones do.
func TestClassicBucketsAreNearPeriods(t *testing.T) {
	families := ownFamilies(t)
	for _, name := range []string{"tickrate_tick_cpu_seconds", "tickrate_tick_duration_seconds",
		"tickrate_tick_lateness_seconds"} {
		var bounds []float64
		for _, b := range families[name].Metric[0].Histogram.Bucket {
			bounds = append(bounds, b.GetUpperBound())
		}
		if len(bounds) > 60 {
			t.Errorf("%s has %d buckets", name, len(bounds))
		}
		for _, hz := range []int{144, 128, 64, 60, 30} {
			for _, times := range []float64{0.5, 0.75, 1, 1.25, 1.5, 2} {
				at := times / float64(hz)
				i, _ := slices.BinarySearch(bounds, at)
				if i == 0 || i == len(bounds) || bounds[i]/bounds[i-1] > 1.1 {
					t.Errorf("%s: no narrow bucket around %g periods at %d Hz", name, times, hz)
				}
			}
		}
	}
	n := meter.NewNative(1e-9, int64(time.Minute))
	for _, took := range []time.Duration{time.Millisecond, 15 * time.Millisecond, 16 * time.Millisecond, 18 * time.Millisecond} {
		n.Record(int64(took))
	}
	var out dto.Metric
	h := nativeHistogram{count: n.Read(), classic: nearPeriods}
	if err := h.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, b := range out.Histogram.Bucket {
		want := uint64(0)
		for _, took := range []float64{0.001, 0.015, 0.016, 0.018} {
			if took <= b.GetUpperBound() {
				want++
			}
		}
		if b.GetCumulativeCount() != want {
			t.Errorf("%d values up to %g s, want %d", b.GetCumulativeCount(), b.GetUpperBound(), want)
		}
	}
}

// Ticks that were played, slept through and skipped are counted apart.
func TestTicksArePlayed(t *testing.T) {
	l := newTestHost(t, server.Config{Players: 4}, 2, 130)
	f := gathered(t, l.registry())["tickrate_ticks_total"]
	if got, want := f.Metric[0].Counter.GetValue(), float64(l.sim.Lobby.Match().Tick()); got != want || want < 130 {
		t.Errorf("%g ticks, the match is at %g", got, want)
	}
}

package autoscale

import (
	"testing"
	"time"
)

// Over days that nobody has looked at, no Buffer that costs no more host hours lets fewer players
// wait, and the same seed gives the same day.
func TestRow79DayBesideBuffer(t *testing.T) {
	if testing.Short() {
		t.Skip("days of 80,000 seconds")
	}
	for seed := range uint64(3) {
		for _, perHost := range []int{200, 500, 2000} {
			day := Day{Seed: 100 + seed}
			ours := day.Run(perHost, scalerOf(t, perHost))
			for _, size := range []float64{1, 2, 4, 8, 0.1, 0.2} {
				b := day.Run(perHost, Buffer(size))
				if b.HostHours <= ours.HostHours && b.Waited < ours.Waited {
					t.Errorf("seed %d, %d players a host: %.0f host hours and %d waited, Buffer %g %.0f and %d",
						day.Seed, perHost, ours.HostHours, ours.Waited, size, b.HostHours, b.Waited)
				}
			}
			t.Logf("seed %d, %d a host: %.0f host hours, %d of %d waited, p99 %v", day.Seed, perHost,
				ours.HostHours, ours.Waited, ours.Players, ours.Wait(0.99))
		}
	}
	a, b := Day{Seed: 7, Peak: 2000}, Day{Seed: 7, Peak: 2000}
	if x, y := a.Run(100, Buffer(2)), b.Run(100, Buffer(2)); x.HostHours != y.HostHours || x.Waited != y.Waited ||
		x.Matches != y.Matches {
		t.Errorf("the same seed: %+v and %+v", x, y)
	}
}

func scalerOf(t *testing.T, perHost int) Scaler {
	p := policyOf(t, Config{PerHost: perHost})
	return func(now time.Duration, f Fleet, r *Report) int {
		n, err := p.Hosts(now, f, r)
		if err != nil {
			t.Error(err)
		}
		return n
	}
}

// A lost host costs waits, a fleet that never grows lets players wait for hours.
func TestDayNoticesABadPolicy(t *testing.T) {
	day := Day{Seed: 3, Peak: 2000}
	few := day.Run(100, func(time.Duration, Fleet, *Report) int { return 10 })
	if few.Waited < few.Players/10 || few.Wait(0.99) < 10*time.Minute {
		t.Errorf("ten hosts for 20: %d of %d waited, p99 %v", few.Waited, few.Players, few.Wait(0.99))
	}
	none := func(time.Duration, Fleet, *Report) int { return 21 }
	day.Peak = 1500
	lost := day.Run(100, none)
	day.KeepHosts = true
	if kept := day.Run(100, none); kept.Matches >= lost.Matches+1000 || kept.Waited > lost.Waited {
		t.Errorf("%d waited with all hosts, %d without one", kept.Waited, lost.Waited)
	}
}

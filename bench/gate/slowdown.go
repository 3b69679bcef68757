package gate

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server/metrics"
)

// Slowdown burns a share of a stage's time in it once more: a regression on purpose, to see that
// the gate finds it.
type Slowdown struct {
	Stage string
	share float64
	turns float64 // of spin's loop in a nanosecond
}

// ParseSlowdown reads "stage=10%"; "" is none.
func ParseSlowdown(text string) (Slowdown, error) {
	if text == "" {
		return Slowdown{}, nil
	}
	stage, share, _ := strings.Cut(text, "=")
	percent, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	var names []string
	for i := range metrics.NumStages {
		names = append(names, metrics.Stage(i).String())
	}
	if err != nil || !slices.Contains(names, stage) || !(percent > 0 && percent <= 1000) {
		return Slowdown{}, fmt.Errorf("slowdown %q: expected a stage and percent, such as snapshot=10%%",
			text)
	}
	return Slowdown{Stage: stage, share: percent / 100, turns: spinRate()}, nil
}

// spinRate is the number of turns of spin's loop in a nanosecond: of the fastest try, which the
// machine did not interrupt.
func spinRate() float64 {
	const turns = 100_000
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	for range 30 {
		from := clock.ThreadCPU()
		spin(turns)
		least = min(least, clock.ThreadCPU()-from)
	}
	return turns / float64(max(least, 1))
}

// burner is for simbench.Probe; nil if nothing is slowed.
func (s Slowdown) burner() func(stage string, took time.Duration) bool {
	if s.share == 0 {
		return nil
	}
	return func(stage string, took time.Duration) bool {
		if stage != s.Stage {
			return false
		}
		spin(int(float64(took) * s.share * s.turns)) // without a clock, which takes time itself
		return true
	}
}

// spun keeps the compiler from leaving spin out.
var spun uint64

// spin keeps the processor busy.
func spin(turns int) {
	x := spun | 1
	for range turns {
		x = x*6364136223846793005 + 1442695040888963407
	}
	spun = x
}

package lagcomp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"pgregory.net/rapid"
)

func drawKnowledge(t *rapid.T, now tick.Tick) ClampLimits {
	newest := rapid.Uint32Range(0, uint32(now)).Draw(t, "newest")
	return ClampLimits{
		Rate:        tick.Rate(rapid.SampledFrom([]int{0, 20, 60, 128}).Draw(t, "rate")),
		RTTTicks:    rapid.Float32().Draw(t, "rtt"),
		InterpTicks: rapid.Float32Range(0, 20).Draw(t, "interp"),
		SlackTicks:  rapid.Float32Range(0, 5).Draw(t, "slack"),
		CapTicks:    tick.Tick(rapid.Uint32Range(0, 40).Draw(t, "cap")),
		Newest:      tick.Tick(newest),
		NewestAcked: tick.Tick(rapid.Uint32Range(0, newest).Draw(t, "acked")),
		Oldest:      tick.Tick(rapid.Uint32Range(0, newest).Draw(t, "oldest")),
		LastInstant: rapid.Int64Range(0, int64(newest)<<8).Draw(t, "last"),
	}
}

func drawView(t *rapid.T, around tick.Tick) tick.View {
	from := rapid.OneOf(rapid.Uint32Range(uint32(max(around, 41))-40, uint32(around)+40),
		rapid.Uint32()).Draw(t, "from")
	to := rapid.OneOf(rapid.Uint32Range(from, max(from, from+20)), rapid.Uint32()).Draw(t, "to")
	return tick.View{From: tick.Tick(from), To: tick.Tick(to), Frac: rapid.Uint8().Draw(t, "frac")}
}

func TestClampViewKeepsItsPromises(t *testing.T) { rapid.Check(t, clampKeepsItsPromises) }

func FuzzClampView(f *testing.F) { f.Fuzz(rapid.MakeFuzz(clampKeepsItsPromises)) }

func clampKeepsItsPromises(t *rapid.T) {
	now := tick.Tick(rapid.Uint32Range(1, 1000).Draw(t, "now"))
	know := drawKnowledge(t, now)
	v := drawView(t, now)
	got, clamped := ClampView(v, now, know)
	if clamped != (got != v) {
		t.Fatalf("clamped %v, but %+v became %+v", clamped, v, got)
	}
	if know.Newest == 0 {
		if got != (tick.View{}) {
			t.Fatalf("%+v although nothing was sent", got)
		}
		return
	}
	if !got.Valid() || got.To > know.Newest || got.From < know.Oldest {
		t.Fatalf("%+v is out of [%d, %d]", got, know.Oldest, know.Newest)
	}
	// the promises of the documentation, said again in float64
	rate, limit := float64(know.Rate), float64(know.CapTicks)
	if rate == 0 {
		rate = 60
	}
	if limit == 0 {
		limit = math.Floor(rate / 4)
	}
	lag := float64(know.InterpTicks) + float64(know.SlackTicks)
	earliest := max(float64(now)-max(0, float64(know.RTTTicks))-lag, float64(know.NewestAcked)-lag,
		float64(now)-limit, float64(know.Oldest), float64(know.LastInstant)/256-1, 1)
	at := float64(got.From) + float64(got.To-got.From)*float64(got.Frac)/256
	const rounding = 3.0 / 256
	if at < min(earliest, float64(know.Newest))-rounding {
		t.Fatalf("%+v at %v is older than %v", got, at, earliest)
	}
	if again, twice := ClampView(got, now, know); again != got || twice {
		t.Fatalf("clamping twice: %+v, then %+v", got, again)
	}
	if !v.Valid() {
		if Instant(got) != int64(know.Newest)<<8 {
			t.Fatalf("the invalid %+v bought a rewind to %+v", v, got)
		}
		return
	}
	if Instant(v) >= int64((earliest+rounding)*256) && Instant(v) <= int64(know.Newest)<<8 &&
		Instant(got) != Instant(v) {
		t.Fatalf("an instant within bounds moved: %+v became %+v", v, got)
	}
	if later := drawView(t, now); later.Valid() && Instant(later) >= Instant(v) {
		if other, _ := ClampView(later, now, know); Instant(other) < Instant(got) {
			t.Fatalf("%+v became %+v, the later %+v the earlier %+v", v, got, later, other)
		}
	}
}

func TestClampViewCases(t *testing.T) {
	know := ClampLimits{Rate: 60, RTTTicks: 3, InterpTicks: 6, SlackTicks: 2, NewestAcked: 96, Newest: 99,
		Oldest: 20}
	long := know
	long.RTTTicks, long.NewestAcked = 60, 0
	again := know
	again.LastInstant = 94<<8 + 10
	for i, c := range []struct {
		know    ClampLimits
		v, want tick.View
	}{
		{know, tick.View{From: 93, To: 96, Frac: 77}, tick.View{From: 93, To: 96, Frac: 77}}, // honest
		// 100 - (3 + 6 + 2)
		{know, tick.View{From: 87, To: 90}, tick.View{From: 89, To: 89}},
		{know, tick.View{From: 87, To: 90, Frac: 171}, tick.View{From: 87, To: 90, Frac: 171}},
		{know, tick.View{From: 87, To: 90, Frac: 170}, tick.View{From: 89, To: 89}},
		{know, tick.View{From: 99, To: 102, Frac: 9}, tick.View{From: 99, To: 99}}, // the future
		// nonsense buys nothing
		{know, tick.View{From: 95, To: 94}, tick.View{From: 99, To: 99}},
		// a straight line through walls
		{know, tick.View{From: 60, To: 99, Frac: 250}, tick.View{From: 98, To: 99, Frac: 22}},
		// the cap of 15 ticks
		{long, tick.View{From: 70, To: 73, Frac: 1}, tick.View{From: 85, To: 85}},
		{again, tick.View{From: 93, To: 96, Frac: 4}, tick.View{From: 93, To: 96, Frac: 4}},
		{again, tick.View{From: 90, To: 93, Frac: 4}, tick.View{From: 93, To: 94, Frac: 10}}, // backwards
		{ClampLimits{}, tick.View{From: 70, To: 73}, tick.View{}},
		{ClampLimits{Newest: 99, Oldest: 98, InterpTicks: float32(math.Inf(1)),
			RTTTicks: float32(math.NaN())}, tick.View{From: 97, To: 99, Frac: 128},
			tick.View{From: 98, To: 98}},
	} {
		got, clamped := ClampView(c.v, 100, c.know)
		if got != c.want || clamped != (c.v != c.want) {
			t.Errorf("%d: %+v became %+v (clamped %v), want %+v", i, c.v, got, clamped, c.want)
		}
	}
}

// TestHonestPeersAreNeverClamped plays a peer on a jittery line: snapshots take their way, the peer
// draws its delay behind the newest it holds, its commands take their way back, and the server
// executes them with what it has measured.
func TestHonestPeersAreNeverClamped(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 20000 {
		interval := tick.Tick(1 + rng.IntN(3))
		oneWay, jitter := rng.Float64()*3.5, rng.Float64()
		up, down := oneWay+jitter*rng.Float64(), oneWay+jitter*rng.Float64()
		drawn := 1000 + rng.Float64()                                // the peer draws now, in server time
		held := tick.Tick((drawn-down)/float64(interval)) * interval // newest snapshot it has
		delay := 1.5 * float64(interval)
		at := int64((float64(held) - delay) * 256)
		from := tick.Tick(at>>8) / interval * interval
		v := tick.View{From: from, To: from + interval, Frac: uint8((at - int64(from)<<8) / int64(interval))}
		now := tick.Tick(math.Ceil(drawn + up)) // the command waits for its tick
		know := ClampLimits{
			Rate: 60, CapTicks: 60, RTTTicks: float32(2 * oneWay),
			InterpTicks: float32(delay + float64(interval)),
			SlackTicks:  float32(2*jitter + 2), NewestAcked: held, Newest: (now - 1) / interval * interval,
			Oldest: now - 60,
		}
		if got, clamped := ClampView(v, now, know); clamped {
			t.Fatalf("one way %v, jitter %v: %+v at tick %d became %+v with %+v", oneWay, jitter, v, now,
				got, know)
		}
	}
}

// TestEachLimitOfThePastHolds: each of ClampView's limits is the earliest instant where it is the
// tightest.
func TestEachLimitOfThePastHolds(t *testing.T) {
	const now = 1000
	know := ClampLimits{Rate: 60, RTTTicks: 60, InterpTicks: 6, SlackTicks: 2, CapTicks: 100, Newest: 999, Oldest: 1}
	for want, limit := range map[tick.Tick]func(*ClampLimits){
		now - 68:  func(*ClampLimits) {}, // RTT + interp + slack
		990 - 8:   func(k *ClampLimits) { k.NewestAcked = 990 },
		now - 45:  func(k *ClampLimits) { k.CapTicks = 45 },
		now - 30:  func(k *ClampLimits) { k.Oldest = now - 30 },
		960:       func(k *ClampLimits) { k.LastInstant = 961 << 8 },
		999:       func(k *ClampLimits) { k.NewestAcked = 2000 }, // never later than Newest
		now - 100: func(k *ClampLimits) { k.RTTTicks = 500 },
	} {
		k := know
		limit(&k)
		if used, moved := ClampView(tick.View{From: 5, To: 5}, now, k); !moved || used != (tick.View{From: want, To: want}) {
			t.Errorf("%+v: %+v, %v, want tick %d", k, used, moved, want)
		}
	}
}

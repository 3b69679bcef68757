package impair

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

// slowLink is the slow twin of a link: a list that is searched for the next arrival.
type slowLink struct {
	decider decider
	list    []slowEntry
}

type slowEntry struct {
	due  time.Duration
	data string
	tag  uint64
	from uint32
}

func (l *slowLink) push(now time.Duration, data string, tag uint64) {
	due, n := l.decider.decide(now, len(data))
	for _, at := range due[:n] {
		altered := []byte(data)
		altered = altered[:l.decider.corruption.apply(altered, &l.decider.profile, &l.decider.count)]
		l.list = append(l.list, slowEntry{at, string(altered), tag, l.decider.binding})
	}
}

func (l *slowLink) pop(now time.Duration) (slowEntry, bool) {
	best := -1
	for i, e := range l.list {
		if e.due <= now && (best < 0 || e.due < l.list[best].due) {
			best = i
		}
	}
	if best < 0 {
		return slowEntry{}, false
	}
	e := l.list[best]
	l.list = append(l.list[:best:best], l.list[best+1:]...)
	return e, true
}

// drawProfile draws any profile that passes Check, with half of its parameters at zero.
func drawProfile(t *rapid.T) Profile {
	share, span := rapid.Float64Range(0, 1), rapid.Int64Range(0, int64(40*ms))
	var p Profile
	for i := range parameters {
		k := &parameters[i]
		if rapid.Bool().Draw(t, k.name) || k.needs != "" && findParameter(k.needs).zero(&p) {
			continue
		}
		switch {
		case k.isMean():
			*k.float(&p) = 1 + 20*share.Draw(t, k.name)
		case k.float != nil:
			*k.float(&p) = share.Draw(t, k.name)
		case k.time != nil:
			*k.time(&p) = time.Duration(span.Draw(t, k.name))
		case k.rate != nil:
			*k.rate(&p) = rapid.IntRange(1000, 20_000).Draw(t, k.name)
		default:
			*k.bytes(&p) = rapid.IntRange(1000, 20_000).Draw(t, k.name)
		}
	}
	p.Corrupt, p.CorruptBytes, p.Truncate = p.Corrupt/3, p.CorruptBytes/3, p.Truncate/3
	p.BlackholeEvery = max(p.BlackholeEvery, p.Blackhole)
	if p.Rebind > 0 {
		p.Rebind += 10 * ms
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLinkAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0,
				40).Draw(t, "ms")) * ms
		})
		p := drawProfile(t)
		seed := rapid.Uint64().Draw(t, "seed")
		l := New(p, seed)
		twin := &slowLink{decider: l.decider}
		var now time.Duration
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "push") {
				data, tag := rapid.StringN(0, 20, netio.MaxDatagram).Draw(t, "data"),
					rapid.Uint64().Draw(t, "tag")
				l.Push(now, []byte(data), tag)
				twin.push(now, data, tag)
				continue
			}
			now += span.Draw(t, "step")
			data, tag, ok := l.Pop(now)
			want, wantOk := twin.pop(now)
			if ok != wantOk || string(data) != want.data || tag != want.tag || ok &&
				l.Binding() != want.from {
				t.Fatalf("popped %q %d %v, want %q %d %v", data, tag, ok, want.data, want.tag, wantOk)
			}
			if s := l.Stats(); !conserved(s, l.Len()) {
				t.Fatalf("a datagram is missing: %+v and %d on their way", s, l.Len())
			}
		}
	})
}

// conserved reports whether the identity of Stats holds.
func conserved(s Stats, flying int) bool {
	return s.Pushed+s.Duplicated == s.Blackholed+s.Lost+s.QueueDrops+s.Delivered+uint64(flying)
}

// Shares and times are those of the profile.
func TestSharesFollowTheProfile(t *testing.T) {
	const n = 100_000
	p := Profile{Loss: 0.05, Duplicate: 0.02, Reorder: 0.01, Delay: 30 * ms, Jitter: 10 * ms}
	l := New(p, 1)
	var latest time.Duration
	overtaken, arrivals := 0, 0
	var newest uint64
	check := func(now time.Duration) {
		for {
			data, tag, ok := l.Pop(now)
			if !ok {
				return
			}
			arrivals++
			took := now - time.Duration(binary.LittleEndian.Uint64(data))
			latest = max(latest, took)
			if took < p.Delay {
				t.Fatalf("datagram %d took %v", tag, took)
			}
			if tag < newest {
				overtaken++
			}
			newest = max(newest, tag)
		}
	}
	for i := range uint64(n) {
		now := time.Duration(i) * ms
		check(now)
		l.Push(now, binary.LittleEndian.AppendUint64(nil, uint64(now)), i)
	}
	check(n*ms + time.Second)
	s := l.Stats()
	near := func(what string, got uint64, share float64) {
		want := share * n
		if math.Abs(float64(got)-want) > 5*math.Sqrt(want) { // five standard deviations
			t.Fatalf("%s: %d, want about %.0f", what, got, want)
		}
	}
	near("lost", s.Lost, 0.05)
	near("duplicated", s.Duplicated, 0.95*0.02)
	near("reordered", s.Reordered, 0.95*1.02*0.01)
	near("overtaken", uint64(overtaken), 0.95*1.02*0.01)
	if arrivals != int(s.Delivered) || l.Len() != 0 {
		t.Fatalf("%d arrived, counted %+v", arrivals, s)
	}
}

func TestJitterAloneKeepsTheOrder(t *testing.T) {
	l := New(Profile{Duplicate: 0.5, Delay: ms, Jitter: 100 * ms}, 7)
	next := uint64(0)
	for i := range uint64(1000) {
		now := time.Duration(i) * ms
		l.Push(now, nil, i)
		for _, tag, ok := l.Pop(now); ok; _, tag, ok = l.Pop(now) {
			if tag != next && tag+1 != next {
				t.Fatalf("%d after %d", tag, next)
			}
			next = tag + 1
		}
	}
}

func TestSameSeedSameFate(t *testing.T) {
	trace := func(seed uint64) string {
		l, out := New(Profile{Loss: 0.3, Duplicate: 0.3, Reorder: 0.3, Jitter: 20 * ms}, seed),
			strings.Builder{}
		for i := range uint64(200) {
			l.Push(time.Duration(i)*ms, nil, i)
			for _, tag, ok := l.Pop(time.Duration(i) * ms); ok; _, tag, ok = l.Pop(time.Duration(i) * ms) {
				out.WriteByte(byte(tag))
			}
		}
		return out.String()
	}
	if first, again, other := trace(1), trace(1), trace(2); first != again || first == other {
		t.Fatal("a seed decides nothing, or not everything")
	}
}

// The first numbers of SplitMix64 from seed 1234567, as published with the reference
// implementation.
func TestRandomNumbersArePinned(t *testing.T) {
	d := rng(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423,
		4593380528125082431, 16408922859458223821} {
		if got := d.next(); got != want {
			t.Fatalf("number %d is %d, want %d", i, got, want)
		}
	}
}

// everything sets every parameter.
var everything = Profile{
	Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Delay: 30 * ms, Jitter: 10 * ms, Burst: 0.01,
	BurstMax: 100 * ms, BurstLoss: 0.9,
	Corrupt: 0.1, CorruptBytes: 0.1, Truncate: 0.1, Rate: 900_000, Queue: 20_000, Blackhole: 100 * ms,
	BlackholeEvery: 2 * time.Second,
	Rebind:         time.Second,
}

func TestSteadyLinkAllocatesNothing(t *testing.T) {
	l := New(everything, 3)
	data := make([]byte, 100)
	now := time.Duration(0)
	step := func() {
		now += ms
		for i := range uint64(10) {
			l.Push(now, data, i)
		}
		for {
			if _, _, ok := l.Pop(now); !ok {
				return
			}
		}
	}
	for range 2000 { // until it has held as many at a time as it ever will
		step()
	}
	for range 400 {
		l.free = append(l.free, new(buffer)) // a rare crowd must not fail the test
	}
	if cap(l.heap) < 1000 {
		l.heap = append(make([]entry, 0, 1000), l.heap...)
	}
	if n := alloctest.In(1000, step); n != 0 {
		t.Fatalf("%g allocations a step", n)
	}
}

func TestBadProfilesAreNamed(t *testing.T) {
	for _, c := range []struct {
		p    Profile
		word string
	}{
		{Profile{Loss: 1.1}, "loss"},
		{Profile{Duplicate: -0.1}, "duplicate"},
		{Profile{Reorder: math.NaN()}, "reorder"},
		{Profile{Delay: -1}, "delay"},
		{Profile{Jitter: 2 * time.Minute}, "jitter"},
		{Profile{ReorderBy: -1}, "reorder-by"},
		{Profile{Burst: 2}, "burst is"},
		{Profile{BurstLength: 5}, "without burst"},
		{Profile{Burst: 0.1, BurstLength: 0.5}, "burst-length"},
		{Profile{Burst: 0.1, BurstLength: math.NaN()}, "burst-length"},
		{Profile{Corrupt: 0.5, CorruptBytes: 0.3, Truncate: 0.3}, "together"},
		{Profile{Rate: 10}, "rate"},
		{Profile{Rate: -1}, "rate"},
		{Profile{Queue: 1000}, "without rate"},
		{Profile{Rate: 1000, Queue: 100_000}, "less than a minute"},
		{Profile{Blackhole: 31 * time.Second}, "blackhole"},
		{Profile{BlackholeEvery: time.Second}, "without blackhole"},
		{Profile{Rebind: 1}, "rebind"},
	} {
		if err := c.p.Check(); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Fatalf("%+v: %v, want an error about %s", c.p, err, c.word)
		}
	}
	if err := (Profile{Loss: 1, Delay: time.Minute}).Check(); err != nil {
		t.Fatal(err)
	}
}

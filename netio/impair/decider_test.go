package impair

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"testing"
	"time"
)

// within fails unless got of n trials with chance share lies within five standard deviations.
func within(t *testing.T, what string, got uint64, n, share float64) {
	t.Helper()
	want := n * share
	if d := 5 * math.Sqrt(want*(1-share)); math.Abs(float64(got)-want) > d {
		t.Errorf("%s: %d of %.0f, want %.0f ± %.0f", what, got, n, want, d)
	}
}

// losses pushes n datagrams, one every gap, and returns which were lost.
func losses(p Profile, n int, gap time.Duration, seed uint64) []bool {
	l, lost := New(p, seed), make([]bool, n)
	for i := range lost {
		now := time.Duration(i) * gap
		l.Push(now, nil, 0)
		_, _, ok := l.Pop(now)
		lost[i] = !ok
	}
	return lost
}

func runs(lost []bool) (bad, good []int) {
	n := 1
	for i := 1; i <= len(lost); i++ {
		if i < len(lost) && lost[i] == lost[i-1] {
			n++
			continue
		}
		if lost[i-1] {
			bad = append(bad, n)
		} else {
			good = append(good, n)
		}
		n = 1
	}
	return bad, good
}

// geometric tests run lengths against P(k) = (1-r)^(k-1) r with Pearson's test: each of the first
// cells and the rest.
func geometric(t *testing.T, what string, lengths []int, r float64) {
	const cells = 24
	var seen [cells + 1]float64
	sum := 0
	for _, k := range lengths {
		seen[min(k-1, cells)]++
		sum += k
	}
	n := float64(len(lengths))
	chi, left := 0.0, 1.0
	for k := range cells {
		chi += (seen[k] - n*left*r) * (seen[k] - n*left*r) / (n * left * r)
		left *= 1 - r
	}
	chi += (seen[cells] - n*left) * (seen[cells] - n*left) / (n * left)
	if chi > 51.2 { // 24 degrees of freedom, one seed in a thousand
		t.Errorf("%s: chi square %.1f, want at most 51.2", what, chi)
	}
	mean, sigma := float64(sum)/n, math.Sqrt((1-r)/(r*r*n))
	if math.Abs(mean-1/r) > 4*sigma {
		t.Errorf("%s: mean %.3f of %.0f, want %.3f ± %.3f", what, mean, n, 1/r, 4*sigma)
	}
}

// Gilbert's channel: stays in either state are geometric, and the loss is the share of time in
// the bad one.
func TestBurstLengthsAreGeometric(t *testing.T) {
	const n, p, mean = 1_000_000, 0.02, 8.0
	lost := losses(Profile{Burst: p, BurstLength: mean}, n, ms, 11)
	bad, good := runs(lost)
	geometric(t, "bursts", bad, 1/mean)
	geometric(t, "gaps", good, p)
	count := 0
	for _, l := range lost {
		if l {
			count++
		}
	}
	if share, want := float64(count)/n, p/(p+1/mean); math.Abs(share-want) > 0.003 {
		t.Errorf("lost %.4f of all, want %.4f", share, want)
	}
}

// Elliott's channel: the good state loses some datagrams and the bad one keeps some.
func TestBothStatesLose(t *testing.T) {
	const n, p, mean, good, bad = 1_000_000, 0.01, 20.0, 0.02, 0.6
	l := New(Profile{Loss: good, Burst: p, BurstLength: mean, BurstLoss: bad}, 12)
	for i := range n {
		l.Push(time.Duration(i)*ms, nil, 0)
		l.Pop(time.Duration(i) * ms)
	}
	share := p / (p + 1/mean)
	want := share*bad + (1-share)*good
	if got := float64(l.Stats().Lost) / n; math.Abs(got-want) > 0.004 {
		t.Errorf("lost %.4f, want %.4f", got, want)
	}
	if got, want := float64(l.Stats().Bursts), n/(1/p+mean); math.Abs(got-want) > 5*math.Sqrt(want) {
		t.Errorf("%.0f bursts, want %.0f", got, want)
	}
}

func TestLossAloneIsIndependent(t *testing.T) {
	bad, good := runs(losses(Profile{Loss: 0.3}, 300_000, ms, 13))
	geometric(t, "runs of lost ones", bad, 0.7)
	geometric(t, "runs of others", good, 0.3)
}

func TestBurstsEndInTime(t *testing.T) {
	bad, _ := runs(losses(Profile{Burst: 0.01, BurstLength: 20, BurstMax: 500 * ms}, 200_000, 20*ms, 14))
	longest := 0
	for _, n := range bad {
		longest = max(longest, n)
	}
	if longest != 25 { // 500 ms of a datagram each 20 ms; with a mean of 20 some burst reaches that
		t.Fatalf("the longest burst has %d datagrams, want 25", longest)
	}
}

// The named profiles lose what their documentation says.
func TestProfilesLoseAsDocumented(t *testing.T) {
	p, err := ParseProfile("hell")
	if err != nil {
		t.Fatal(err)
	}
	const n = 400_000
	l := New(p, 15)
	data := make([]byte, 50)
	for i := range n {
		now := time.Duration(i) * time.Second / 60
		l.Push(now, data, 0)
		for _, _, ok := l.Pop(now); ok; _, _, ok = l.Pop(now) {
		}
	}
	s := l.Stats()
	passed := float64(s.Pushed - s.Lost)
	copies := passed + float64(s.Duplicated)
	if loss := float64(s.Lost) / n; loss < 0.29 || loss > 0.31 {
		t.Errorf("lost %.4f, want 0.30 ± 0.01", loss)
	}
	within(t, "duplicated", s.Duplicated, passed, 0.1)
	within(t, "reordered", s.Reordered, copies, 0.2)
	within(t, "corrupted", s.Corrupted, copies, 0.05)
}

func TestJitterStaysInItsBounds(t *testing.T) {
	const n, delay, jitter = 50_000, 20 * ms, 10 * ms
	l := New(Profile{Delay: delay, Jitter: jitter}, 16)
	var least, most, sum time.Duration = time.Hour, 0, 0
	for i := range n { // far enough from each other for none to wait for the one before it
		now := time.Duration(i) * 50 * ms
		l.Push(now, nil, 0)
		at, _ := l.Next()
		l.Pop(at)
		least, most, sum = min(least, at-now), max(most, at-now), sum+at-now
	}
	if least < delay || least > delay+ms/10 || most >= delay+jitter || most < delay+jitter-ms/10 {
		t.Errorf("took %v to %v, want %v to %v and nearly all of it", least, most, delay, delay+jitter)
	}
	if mean := sum / n; mean < delay+jitter/2-ms/10 || mean > delay+jitter/2+ms/10 {
		t.Errorf("took %v on average, want %v", mean, delay+jitter/2)
	}
}

// Jitter and a rate bound never reorder, and never take longer than queue, datagram, delay and
// jitter together.
func TestRateHolds(t *testing.T) {
	for _, c := range []struct{ rate, queue, size int }{
		{100_000, 10_000, 300},
		{3_001, 5_000, 77}, // divides nothing
		{12_500_000, 1_000_000, 1200},
	} {
		const delay, jitter, span = 5 * ms, 3 * ms, 20 * time.Second
		l := New(Profile{Rate: c.rate, Queue: c.queue, Delay: delay, Jitter: jitter}, 17)
		// three times too much
		gap := time.Duration(float64(c.size) / float64(c.rate) / 3 * float64(time.Second))
		most := time.Duration(float64(c.queue+c.size)/float64(c.rate)*float64(time.Second)) + delay + jitter
		sent := make([]byte, c.size)
		var last uint64
		perSecond := make([]int, span/time.Second+1)
		for now := time.Duration(0); now < span; now += gap {
			binary.LittleEndian.PutUint64(sent, uint64(now))
			l.Push(now, sent, 0)
			for data, _, ok := l.Pop(now); ok; data, _, ok = l.Pop(now) {
				from := binary.LittleEndian.Uint64(data)
				if from < last || now-time.Duration(from) > most+gap {
					t.Fatalf("%+v: sent at %d after %d, took %v, want %v at most", c, from, last,
						now-time.Duration(from), most)
				}
				last = from
				perSecond[now/time.Second] += len(data)
			}
		}
		slack := c.size + int(float64(c.rate)*(jitter+gap).Seconds())
		for s, n := range perSecond[1 : len(perSecond)-1] {
			if n < c.rate-slack || n > c.rate+slack {
				t.Errorf("%+v: %d bytes in second %d, want %d ± %d", c, n, s+1, c.rate, slack)
			}
		}
		s := l.Stats()
		if !conserved(s, l.Len()) || s.QueueDrops < s.Pushed*6/10 {
			t.Errorf("%+v: %+v and %d on their way", c, s, l.Len())
		}
		if ideal := float64(c.rate) * span.Seconds(); math.Abs(float64(s.DeliveredBytes)-ideal) > 0.01*
			ideal+float64(c.queue) {
			t.Errorf("%+v: %d bytes came through, want %.0f", c, s.DeliveredBytes, ideal)
		}
	}
}

// The queue equals a list of the bytes that have not left, in steps of a nanosecond a byte.
func TestQueueAgreesWithAList(t *testing.T) {
	const rate, queue = 1_000_000_000, 3000
	var p bottleneck
	var list []time.Duration // when each byte leaves
	d, now := rng(18), time.Duration(0)
	for i := range 20_000 {
		now += time.Duration(d.intn(1000))
		for len(list) > 0 && list[0] <= now {
			list = list[1:]
		}
		n := 1 + d.intn(1472)
		at, ok := p.enqueue(now, n, rate, queue)
		if want := len(list) == 0 || len(list)+n <= queue; ok != want {
			t.Fatalf("datagram %d of %d bytes behind %d: taken is %v", i, n, len(list), ok)
		}
		if !ok {
			continue
		}
		free := now
		if len(list) > 0 {
			free = list[len(list)-1]
		}
		for k := range n {
			list = append(list, free+time.Duration(k+1))
		}
		if at != list[len(list)-1] {
			t.Fatalf("datagram %d leaves at %v, want %v", i, at, list[len(list)-1])
		}
	}
}

func TestIdlePipeTakesAnything(t *testing.T) {
	l := New(Profile{Rate: 1000, Queue: 1}, 1)
	l.Push(0, make([]byte, 1000), 0)
	l.Push(0, nil, 0) // 1000 wait where 1 may
	if at, ok := l.Next(); !ok || at != time.Second || l.Len() != 1 || l.Stats().QueueDrops != 1 {
		t.Fatalf("arrives at %v, %v; %+v", at, ok, l.Stats())
	}
}

func TestBlackholesSwallowAllAndNothingElse(t *testing.T) {
	l := New(Profile{Blackhole: 3 * time.Second, BlackholeEvery: 10 * time.Second}, 1)
	for now := time.Duration(0); now < time.Minute; now += 100 * ms {
		l.Push(now, nil, 0)
		_, _, ok := l.Pop(now)
		if dark := now%(10*time.Second) >= 7*time.Second; ok == dark {
			t.Fatalf("at %v: passed is %v", now, ok)
		}
	}
	if s := l.Stats(); s.Blackholed != 180 || !conserved(s, l.Len()) {
		t.Fatalf("%+v", s)
	}
}

// The binding is that of the instant of sending.
func TestBindingMovesOn(t *testing.T) {
	l := New(Profile{Delay: 3 * time.Second, Rebind: 10 * time.Second}, 1)
	for i := range uint64(100) {
		l.Push(25*time.Second+time.Duration(i)*time.Second, nil, i)
	}
	for i := range uint64(100) {
		_, tag, ok := l.Pop(time.Hour)
		if want := uint32(25+i) / 10; !ok || tag != i || l.Binding() != want {
			t.Fatalf("datagram %d: binding %d, want %d", tag, l.Binding(), want)
		}
	}
	if l.Stats().Rebound != 10 {
		t.Fatalf("rebound %d times, want 10", l.Stats().Rebound)
	}
}

// Altered datagrams differ as the profile asks, and are counted exactly.
func TestCorruptionIsCounted(t *testing.T) {
	const n, size = 100_000, 64
	p := Profile{Corrupt: 0.05, CorruptBytes: 0.03, Truncate: 0.02, Duplicate: 0.1}
	l, d := New(p, 19), rng(20)
	var flipped, smeared, cut, copies uint64
	var at [size * 8]uint64
	sent := make([]byte, size)
	for i := range uint64(n) {
		for k := range sent {
			sent[k] = byte(d.next())
		}
		l.Push(0, sent, i)
		for got, _, ok := l.Pop(0); ok; got, _, ok = l.Pop(0) {
			copies++
			if bytes.Equal(got, sent) {
				continue
			}
			if len(got) < size {
				if !bytes.HasPrefix(sent, got) {
					t.Fatal("cut and altered")
				}
				cut++
				continue
			}
			first, last, ones := -1, 0, 0
			for k := range got {
				if x := got[k] ^ sent[k]; x != 0 {
					ones += bits.OnesCount8(x)
					last = k
					if first < 0 {
						first = k
						if ones == 1 {
							at[k*8+bits.TrailingZeros8(x)]++
						}
					}
				}
			}
			switch {
			case last-first >= maxCorruptBytes:
				t.Fatalf("bytes %d to %d altered", first, last)
			case ones == 1:
				flipped++
			default:
				smeared++
			}
		}
	}
	s := l.Stats()
	if flipped+smeared != s.Corrupted || cut != s.Truncated || copies != s.Delivered {
		t.Fatalf("%d and %d altered, %d cut, %d in all, counted %+v", flipped, smeared, cut, copies, s)
	}
	within(t, "cut", cut, float64(copies), 0.02)
	within(t, "altered", s.Corrupted, float64(copies), 0.08)
	for bit, n := range at {
		if n == 0 || n > 50 { // 10 on average
			t.Errorf("bit %d flipped %d times", bit, n)
		}
	}
}

func TestNothingIsLeftToHarm(t *testing.T) {
	for _, p := range []Profile{{Corrupt: 1}, {CorruptBytes: 1}, {Truncate: 1}} {
		l := New(p, 1)
		for i := range uint64(100) {
			l.Push(0, nil, i)
			if data, tag, ok := l.Pop(0); !ok || tag != i || len(data) != 0 {
				t.Fatalf("%v: %q %d %v", p, data, tag, ok)
			}
			l.Push(0, []byte{7}, i)
			if data, _, _ := l.Pop(0); len(data) == 1 && data[0] == 7 {
				t.Fatalf("%v: left as it was", p)
			}
		}
		if s := l.Stats(); s.Corrupted+s.Truncated != 100 {
			t.Fatalf("%v: %+v", p, s)
		}
	}
}

// Corruption has a random source of its own: a profile with more corruption delivers the same
// datagrams at the same instants.
func TestCorruptionDoesNotMoveTheRest(t *testing.T) {
	p := Profile{Loss: 0.2, Duplicate: 0.1, Reorder: 0.1, Delay: 5 * ms, Jitter: 9 * ms, Burst: 0.01}
	worse := p
	worse.Corrupt, worse.Truncate, worse.Rebind = 0.3, 0.3, time.Second
	a, b := New(p, 21), New(worse, 21)
	for i := range uint64(10_000) {
		now := time.Duration(i) * ms
		a.Push(now, []byte("data"), i)
		b.Push(now, []byte("data"), i)
		for {
			_, tag, ok := a.Pop(now)
			_, other, too := b.Pop(now)
			if ok != too || tag != other {
				t.Fatalf("at %v: %d %v and %d %v", now, tag, ok, other, too)
			}
			if !ok {
				break
			}
		}
	}
}

func TestChangeLeavesWhatIsOnItsWay(t *testing.T) {
	l := New(Profile{Delay: 10 * ms}, 1)
	l.Push(0, nil, 1)
	l.SetProfile(Profile{Delay: 400 * ms})
	l.Push(0, nil, 2)
	l.SetProfile(Profile{Loss: 1})
	l.Push(0, nil, 3)
	if _, tag, ok := l.Pop(10 * ms); !ok || tag != 1 {
		t.Fatal("the first is late")
	}
	if at, ok := l.Next(); !ok || at != 400*ms || l.Len() != 1 {
		t.Fatalf("the second arrives at %v", at)
	}
}

// fingerprint returns a hash of the decisions of a profile and a seed for a minute of datagrams.
func fingerprint(p Profile, seed uint64) uint64 {
	l, sum := New(p, seed), fnv.New64a()
	sent := make([]byte, 40)
	for i := range uint64(3600) {
		now := time.Duration(i) * time.Second / 60
		binary.LittleEndian.PutUint64(sent, i)
		l.Push(now, sent, i)
		for data, _, ok := l.Pop(now); ok; data, _, ok = l.Pop(now) {
			var at [12]byte
			binary.LittleEndian.PutUint64(at[:], uint64(now))
			binary.LittleEndian.PutUint32(at[8:], l.Binding())
			sum.Write(at[:])
			sum.Write(data)
		}
	}
	return sum.Sum64()
}

// A seed makes the same decisions on every machine and in every version, so that a failing seed
// fails again.
func TestSeedsArePinned(t *testing.T) {
	cases := append(Presets(), Preset{Name: "everything", Profile: everything})
	pinned := []uint64{
		0x6e22170d8a789b6c, 0xf722448862fbe0b4, 0x97f33eadd35e464f, 0x653feb58085e1796, 0x7cb2d63b260dc04f,
		0xa1663fb5ea5176f7,
	}
	for i, c := range cases {
		got := fingerprint(c.Profile, 42)
		if got != pinned[i] {
			t.Errorf("%s: %#x, want %#x", c.Name, got, pinned[i])
		}
		if i > 0 && got == fingerprint(c.Profile, 43) {
			t.Errorf("%s: another seed does the same", c.Name)
		}
	}
}

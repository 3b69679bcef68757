package packet

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// rttRun is an exchange of packets whose round-trip time the client measures.
type rttRun struct {
	length time.Duration
	jitter time.Duration                         // each way
	down   time.Duration                         // between two packets of the server
	up     time.Duration                         // between two packets of the client
	delay  func(now time.Duration) time.Duration // each way
}

// play runs both ends and calls look after every packet that the client receives.
func (run rttRun) play(look func(now time.Duration, r RTT)) {
	server, client := pair()
	down, up := newLink(1), newLink(2)
	down.jitter, up.jitter = run.jitter, run.jitter
	for now := time.Duration(0); now < run.length; now += 125 * time.Microsecond {
		down.delay, up.delay = run.delay(now), run.delay(now)
		if now%run.down == 0 {
			d, _ := server.Append(now, nil)
			down.push(now, d)
		}
		if now%run.up == 0 {
			d, _ := client.Append(now, nil)
			up.push(now, d)
		}
		for f, ok := down.pop(now); ok; f, ok = down.pop(now) {
			if _, err := client.Receive(now, f.data); err == nil {
				look(now, client.RTT())
			}
		}
		for f, ok := up.pop(now); ok; f, ok = up.pop(now) {
			_, _ = server.Receive(now, f.data)
		}
	}
}

// fixed returns a constant delay.
func fixed(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// At 80 ms with a jitter of 10 ms, 95 of 100 values are within 2 ms at the usual rates. The mean
// is right for any send rate, since the time that the other end holds an echo is not counted.
func TestRow25RTTWithinTwoMillis(t *testing.T) {
	for _, c := range []struct {
		name          string
		every, answer time.Duration
	}{
		{"60 Hz both ways", 16625 * time.Microsecond, 16625 * time.Microsecond},
		{"20 Hz down, 60 Hz up", 50 * time.Millisecond, 16625 * time.Microsecond},
		{"20 Hz down, 3 Hz up", 50 * time.Millisecond, 333 * time.Millisecond},
		{"3 Hz down, 20 Hz up", 333 * time.Millisecond, 50 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sum, worst, n, near time.Duration
			run := rttRun{length: 60 * time.Second, jitter: ms(5), down: c.every,
				up: c.answer, delay: fixed(ms(40))}
			run.play(func(now time.Duration, r RTT) {
				if now < 5*time.Second {
					return
				}
				off := (r.Smoothed - ms(80)).Abs()
				sum, worst, n = sum+r.Smoothed, max(worst, off), n+1
				if off <= ms(2) {
					near++
				}
				if r.Min < ms(69.5) || r.Min > r.Smoothed || r.Var > ms(10) {
					t.Fatalf("at %v: %+v", now, r)
				}
			})
			mean := sum / max(n, 1)
			t.Logf("mean of %d: %v, %d within 2 ms, farthest %v", n, mean, near, worst)
			if n == 0 || (mean-ms(80)).Abs() > ms(1) || worst > ms(6) {
				t.Fatalf("mean %v, farthest %v of %d", mean, worst, n)
			}
			if c.every < ms(100) && c.answer < ms(100) && (near*100 < n*95 || worst > ms(3)) {
				t.Fatalf("%d of %d within 2 ms, farthest %v", near, n, worst)
			}
			if c.every < ms(20) && near != n {
				t.Fatalf("at 60 Hz only %d of %d within 2 ms", near, n)
			}
		})
	}
}

// Without jitter the answer is exact to the stamp's 1/8 ms, through many wraps of it.
func TestRTTExact(t *testing.T) {
	run := rttRun{length: 30 * time.Second, down: 50 * time.Millisecond, up: 333 * time.Millisecond,
		delay: fixed(ms(40))}
	run.play(func(now time.Duration, r RTT) {
		if now > time.Second && ((r.Smoothed-ms(80)).Abs() > ms(.25) || (r.Min-ms(80)).Abs() > ms(.25)) {
			t.Fatalf("at %v: %+v", now, r)
		}
	})
}

// A step of the path is followed to within a tenth in 2 s.
func TestRTTFollowsAStep(t *testing.T) {
	var at2s RTT
	step := func(now time.Duration) time.Duration {
		if now < 5*time.Second {
			return ms(2)
		}
		return ms(200)
	}
	run := rttRun{length: 10 * time.Second, down: 50 * time.Millisecond,
		up: 16 * time.Millisecond, delay: step}
	run.play(func(now time.Duration, r RTT) {
		if now < 7*time.Second+ms(400) {
			at2s = r
		}
	})
	if at2s.Smoothed < ms(360) || at2s.Min < ms(399) {
		t.Fatalf("2 s after the first echo of 400 ms: %+v", at2s)
	}
}

// A peer that lies about how long it held an echo cannot claim a path longer than the age of the
// packet it echoes.
func TestRTTLies(t *testing.T) {
	server, _ := pair()
	now := time.Duration(0)
	for n := range 50 {
		now += 16 * time.Millisecond
		_, seq := server.Append(now, nil)
		h := Header{Sequence: uint16(n + 1), Ack: seq, Echo: uint16(n) * 1234}
		if _, err := server.Receive(now+ms(10), h.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if r := server.RTT(); r.Smoothed < 0 || r.Smoothed > ms(10) || r.Min < 0 || r.Min > ms(10) {
			t.Fatalf("echo %d gave %+v", h.Echo, r)
		}
	}
}

// The minimum of 2 s equals the twin's, to the quarter second of a bucket.
func TestRTTMinAgreesWithList(t *testing.T) {
	type sample struct{ at, rtt time.Duration }
	var p rttEstimator
	var all []sample
	l, now := newLink(5), time.Duration(0)
	for range 20000 {
		step := time.Duration(l.rng.Int64N(int64(20 * time.Millisecond)))
		if l.rng.IntN(200) == 0 {
			step += time.Duration(l.rng.Int64N(int64(5 * time.Second)))
		}
		now += step
		s := sample{now, ms(20) + time.Duration(l.rng.ExpFloat64()*float64(20*time.Millisecond))}
		all = append(all, s)
		p.add(s.at, s.rtt)
		short, long := s.rtt, s.rtt
		for i := len(all) - 1; i >= 0 && now-all[i].at < 2*time.Second; i-- {
			if now-all[i].at <= 1750*time.Millisecond {
				short = min(short, all[i].rtt)
			}
			long = min(long, all[i].rtt)
		}
		if p.rtt.Min > short || p.rtt.Min < long {
			t.Fatalf("at %v: least %v, of 1.75 s %v, of 2 s %v", now, p.rtt.Min, short, long)
		}
	}
}

// A packet that was overtaken does not change the echo.
func TestEchoOfTheNewest(t *testing.T) {
	server, client := pair()
	first, _ := client.Append(ms(1), nil)
	second, _ := client.Append(ms(11), nil)
	for i, d := range [][]byte{second, first} {
		if _, err := server.Receive(ms(float64(20+10*i)), d); err != nil {
			t.Fatal(err)
		}
	}
	d, _ := server.Append(ms(40), nil)
	if h, _, _ := ParseHeader(d); h.Echo != stamp(ms(11+20)) {
		t.Fatalf("echo %d, want %d", h.Echo, stamp(ms(31)))
	}
}

// On a path without delay, clocks that round differently give a sample just below zero, which
// counts as zero.
func TestRTTOfNothing(t *testing.T) {
	server, client := pair()
	now, rng := time.Duration(0), newLink(3).rng
	for range 2000 {
		now += time.Duration(rng.Int64N(int64(ms(20))))
		d, _ := server.Append(now, nil)
		if _, err := client.Receive(now+ms(.07), d); err != nil {
			t.Fatal(err)
		}
		now += time.Duration(rng.Int64N(int64(ms(20))))
		d, _ = client.Append(now+ms(.07), nil)
		if _, err := server.Receive(now, d); err != nil {
			t.Fatal(err)
		}
		if r := server.RTT(); r.Smoothed > ms(.2) || r.Var > ms(.2) {
			t.Fatalf("at %v: %+v", now, r)
		}
	}
}

// The server holds its echoes for up to 300 ms and stalls for two seconds at a time: round-trip
// times of its clients are not affected.
func TestRow25RTTIgnoresStalls(t *testing.T) {
	server, client := pair()
	down, up := newLink(4), newLink(5)
	down.delay, up.delay, down.jitter, up.jitter = ms(40), ms(40), ms(5), ms(5)
	var n, far int
	var sum time.Duration
	for now := time.Duration(0); now < 60*time.Second; now += ms(1) {
		stalled := now%(5*time.Second) > 3*time.Second
		if now%ms(16) == 0 {
			d, _ := client.Append(now, nil)
			up.push(now, d)
		}
		for !stalled { // what waited longest is not what is echoed
			f, ok := up.pop(now)
			if !ok {
				break
			}
			_, _ = server.Receive(now, f.data)
		}
		if !stalled && now%ms(300) == 0 || !stalled && now%(5*time.Second) > ms(1500) && now%ms(50) == 0 {
			d, _ := server.Append(now, nil)
			down.push(now, d)
		}
		for f, ok := down.pop(now); ok; f, ok = down.pop(now) {
			if _, err := client.Receive(now, f.data); err != nil || now < 5*time.Second {
				continue
			}
			n, sum = n+1, sum+client.RTT().Smoothed
			if (client.RTT().Smoothed - ms(80)).Abs() > ms(5) {
				far++
			}
		}
	}
	if mean := sum / time.Duration(max(n, 1)); n < 300 || far*50 > n || (mean-ms(80)).Abs() > ms(2) {
		t.Fatalf("%d of %d readings are more than 5 ms off, the mean is %v", far, n, mean)
	}
	if j := client.RTTJitter(); j.P50 > ms(14) || j.P99 > ms(21) {
		t.Fatalf("round trips scatter by %+v", j)
	}
}

// Percentiles of a known jitter: 0 to 20 ms evenly one way, over wraps of the stamp and clocks
// that are seconds apart. A tail of one in thirty shows in P99 and not in P95. Without jitter they
// are zero.
func TestRow25JitterPercentiles(t *testing.T) {
	for i, c := range []struct {
		name          string
		delay         func(l *link) time.Duration
		p50, p95, p99 time.Duration
	}{
		0: {"none", func(*link) time.Duration { return ms(40) }, 0, 0, 0},
		1: {"even", func(l *link) time.Duration { return ms(40 + 20*l.rng.Float64()) }, ms(10), ms(19),
			ms(19.8)},
		2: {"tail", func(l *link) time.Duration {
			if l.rng.IntN(30) == 0 {
				return ms(140)
			}
			return ms(40)
		}, 0, 0, ms(100)},
	} {
		server, client := pair()
		l := newLink(uint64(i))
		const apart = 4046 * time.Millisecond // so that delays lie around half the stamp's circle
		for now := time.Duration(0); now < 30*time.Second; now += ms(10) {
			d, _ := server.Append(now, nil)
			if _, err := client.Receive(now+apart+c.delay(l), d); err != nil {
				t.Fatal(err)
			}
		}
		j := client.Jitter()
		for k, v := range []struct{ got, want time.Duration }{{j.P50, c.p50}, {j.P95, c.p95},
			{j.P99, c.p99}} {
			if (v.got - v.want).Abs() > ms(.3)+v.want/8 {
				t.Errorf("%s: percentile %d is %v, want about %v", c.name, k, v.got, v.want)
			}
		}
	}
	var p Peer
	if p.Jitter() != (Jitter{}) || alloctest.In(10, func() { p.addDelay(oneWay, 7); p.Jitter() }) != 0 {
		t.Error("a jitter of nothing, or it allocates")
	}
}

package netcode

import (
	"math"
	"testing"
	"time"
)

// The wall clock jumps by an hour, back, and by a day: sessions are not affected, new clients only
// while it is wrong, and no token becomes valid again.
func TestThreat03WallClockJumps(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	spent := request(p.c.token.Append(nil))
	wall := int64(0)
	run := func(d time.Duration) {
		for end := p.now + d; p.now < end; p.now += 10 * time.Millisecond {
			var out Outbox
			p.c.Update(p.now, &out)
			for i := range out.Len() {
				_, d := out.At(i)
				if _, err := s.Receive(p.now, p.unix()+wall, p.at, d, &out); err != nil {
					t.Fatal(err)
				}
			}
			out.Reset()
			s.Update(p.now, p.unix()+wall, &out)
			p.down(&out)
		}
	}
	ask := func(from int, d []byte) error {
		_, err := s.Receive(p.now, p.unix()+wall, host(from), append([]byte(nil), d...), &Outbox{})
		return err
	}
	fresh := func() []byte {
		return request(mint(t, 2, func(m *Mint) {
			m.Create, m.Expire = uint64(p.unix()),
				uint64(p.unix()+45)
		}))
	}
	jumps := uint64(0)
	for _, c := range []struct {
		name string
		step int64 // seconds
		want error // of a newcomer's request
	}{
		{"no step", 0, nil},
		{"a leap second", 1, nil},
		{"an hour on", 3600, DropReqExpired},
		{"and back", -3600, nil},
		{"an hour back", -3600, nil},
		{"and on", 3600, nil},
		{"a day on", 86_400, DropReqExpired},
		{"and back", -86_400, nil},
	} {
		wall += c.step
		run(3 * time.Second)
		if c.step > 1 || c.step < -1 {
			jumps++
			if off := s.counters.ClockJump - time.Duration(c.step)*time.Second; off < -2*time.Second ||
				off > 2*time.Second {
				t.Errorf("%s: a jump of %v", c.name, s.counters.ClockJump)
			}
		}
		if s.counters.ClockJumps != jumps || p.c.State() != Connected || s.Connected() != 1 {
			t.Errorf("%s: %d jumps, want %d; client %v, %d connected", c.name, s.counters.ClockJumps, jumps,
				p.c.State(), s.Connected())
		}
		if err := ask(2, fresh()); err != c.want {
			t.Errorf("%s: a newcomer: %v, want %v", c.name, err, c.want)
		}
	}
	var out Outbox
	s.Disconnect(p.now, 0, &out)
	wall = -3600
	s.Update(p.now, p.unix()+wall, &out)
	if err := ask(1, spent); err != DropReqTokenUsed {
		t.Errorf("an expired and spent token, after the clock was set back: %v", err)
	}
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		name   string
		second func(n int64) (now time.Duration, unix int64)
		jumps  uint64
		far    time.Duration
	}{
		{"in step", func(n int64) (time.Duration, int64) { return time.Duration(n) * time.Second, n }, 0, 0},
		{"wall rounded down", func(n int64) (time.Duration, int64) {
			return time.Duration(n)*time.Second + time.Duration(n*n%1000)*time.Millisecond, n
		}, 0, 0},
		{"a drift of 1 in 100", func(n int64) (time.Duration,
			int64) {
			return time.Duration(n) * 990 * time.Millisecond, n
		}, 4, 2 * time.Second},
		{"asleep for a minute", func(n int64) (time.Duration,
			int64) {
			return time.Duration(n) * time.Second, n + n/500*60
		}, 1, time.Minute},
		{"the wall clock stands for ten seconds", func(n int64) (time.Duration, int64) {
			return time.Duration(n) * time.Second, max(min(n, 500), n-10)
		}, 1, -10 * time.Second},
		{"to the end of time", func(n int64) (time.Duration, int64) {
			return 0,
				[]int64{0, math.MaxInt64, math.MinInt64}[n/334]
		}, 2, -250 * 365 * 24 * time.Hour},
	} {
		var k clock
		var n Counters
		for i := range int64(1000) {
			now, unix := c.second(i)
			k.observe(now, unix, &n)
		}
		if off := n.ClockJump - c.far; n.ClockJumps != c.jumps || off < -100*time.Millisecond ||
			off > 100*time.Millisecond {
			t.Errorf("%s: %d jumps, the last of %v", c.name, n.ClockJumps, n.ClockJump)
		}
	}
}

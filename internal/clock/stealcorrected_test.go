package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

// played is a slot with invented times: its delay at the instant, its work in two parts, and the
// time that the machine took in each of the three.
type played struct{ wake, send, rest, tookWake, tookSend, tookRest int }

// slowOwn plays the slots microsecond by microsecond, on a machine that takes time and on one that
// does not, and returns the lateness of each in both. Slot i is due after i+1 periods; one that
// did not sleep has no late wake-up.
func slowOwn(slots []played, period int) (raw, own []int) {
	clock := func(taking bool, slept []bool) (late []int, sleeps []bool) {
		now := 0
		run := func(work, took int) {
			for left := work; left > 0; now++ {
				if taking && took > 0 {
					took--
					continue // another has the processor
				}
				left--
			}
			// or it has when there was nothing to do but to look at the clock
			for ; taking && took > 0; took-- {
				now++
			}
		}
		for i, s := range slots {
			due, sleeps1 := (i+1)*period, false
			for now < due {
				now, sleeps1 = now+1, true
			}
			if slept != nil {
				sleeps1 = slept[i] // it wakes late where it did
			}
			if sleeps1 {
				run(s.wake, s.tookWake)
			}
			sleeps = append(sleeps, sleeps1)
			run(s.send, s.tookSend)
			late = append(late, now-due)
			run(s.rest, s.tookRest)
		}
		return late, sleeps
	}
	raw, slept := clock(true, nil)
	own, _ = clock(false, slept)
	return raw, own
}

// quickOwn reports the same slots to StealCorrected, as a thread sees them.
func quickOwn(slots []played, period int) (raw, own []int) {
	const us = time.Microsecond
	var o StealCorrected
	now := time.Duration(0)
	for i, s := range slots {
		due, took := time.Duration((i+1)*period)*us, time.Duration(0)
		if now < due {
			now = due + time.Duration(s.wake+s.tookWake)*us
			took = time.Duration(s.tookWake) * us
		}
		o.Begin(due, now, took)
		now += time.Duration(s.send+s.tookSend) * us
		o.Work(now, time.Duration(s.tookSend)*us)
		raw, own = append(raw, int((now-due)/us)), append(own, int(o.Late()/us))
		now += time.Duration(s.rest+s.tookRest) * us
		o.Work(now, time.Duration(s.tookRest)*us)
	}
	return raw, own
}

func TestOwnIsAsPlayedSlowly(t *testing.T) {
	cases := [][]played{
		{{}, {}, {}},
		{{2, 30, 20, 0, 0, 0}, {2, 30, 20, 0, 0, 0}},
		// a burst, and its catching up
		{{2, 60, 30, 0, 500, 0}, {1, 60, 30, 0, 0, 0}, {1, 60, 30, 0, 0, 0}, {1, 60, 30, 0, 0, 0}},
		// too much work: no time was stolen
		{{2, 90, 40, 0, 0, 0}, {1, 90, 40, 0, 0, 0}, {1, 90, 40, 0, 0, 0}},
		// taken while it woke, and while it received
		{{2, 40, 10, 300, 0, 0}, {1, 40, 10, 0, 0, 70}, {1, 40, 10, 0, 0, 0}},
	}
	rng := rand.New(rand.NewPCG(1952, 24))
	for range 300 {
		slots, load := make([]played, 1+rng.IntN(40)), 1+rng.IntN(70)
		for i := range slots {
			slots[i] = played{wake: rng.IntN(5), send: rng.IntN(load), rest: rng.IntN(load)}
			if rng.IntN(6) == 0 {
				slots[i].tookWake, slots[i].tookSend, slots[i].tookRest = rng.IntN(400), rng.IntN(400),
					rng.IntN(400)
			}
		}
		cases = append(cases, slots)
	}
	differ := 0
	for n, slots := range cases {
		raw, own := slowOwn(slots, 100)
		gotRaw, gotOwn := quickOwn(slots, 100)
		for i := range slots {
			if gotRaw[i] != raw[i] || gotOwn[i] != own[i] {
				t.Fatalf("case %d, slot %d: late by %d and by itself %d, want %d and %d: %+v", n, i,
					gotRaw[i], gotOwn[i], raw[i], own[i], slots)
			}
			if own[i] != raw[i] {
				differ++
			}
		}
	}
	if differ < 1000 {
		t.Errorf("in %d slots only the machine mattered", differ)
	}
}

// For any times, the corrected lateness is at most the lateness, skipped slots included, and equal
// where no time was taken.
func TestOwnIsNeverLater(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 8))
	upTo := func(most int) time.Duration { return time.Duration(rng.IntN(most+1)) * time.Microsecond }
	for n := range 2000 {
		var o StealCorrected
		taking, now, due := n%2 == 0, upTo(300), time.Duration(0)
		took := func() time.Duration {
			if !taking {
				return 0
			}
			return upTo(2000) - 200*time.Microsecond // invalid: above the total or below 0
		}
		check := func(raw time.Duration, what string) {
			own := min(o.Late(), max(raw, 0))
			if what != "left out" {
				own = o.Late()
			}
			if own > raw || own < 0 || !taking && own != raw {
				t.Fatalf("run %d: %s late by %v, by itself by %v", n, what, raw, own)
			}
		}
		for range 50 {
			due += 100 * time.Microsecond
			now = max(now, due) + upTo(30)
			begun := now
			o.Begin(due, now, took())
			check(now-due, "began")
			now += upTo(140)
			o.Work(now, took())
			check(now-due, "sent")
			now += upTo(90)
			o.Work(now, took())
			for rng.IntN(4) == 0 && begun-due > 100*time.Microsecond {
				due += 100 * time.Microsecond
				o.Skip(due)
				check(begun-due, "left out")
			}
		}
	}
}

// A skipped slot is charged with the work of the one before it.
func TestOwnSkip(t *testing.T) {
	const ms = time.Millisecond
	var o StealCorrected
	o.Begin(1*ms, 31*ms, 30*ms)
	o.Work(33*ms, 0) // 2 ms of work in a slot of 1
	for i, want := range []time.Duration{3 * ms, 4 * ms, 5 * ms} {
		if o.Skip(time.Duration(2+i) * ms); o.Late() != want {
			t.Errorf("%d: late by %v, want %v", i, o.Late(), want)
		}
	}
	for i := range 40 {
		o.Skip(time.Duration(5+i) * ms)
	}
	if o.Begin(45*ms, 45*ms, 0); o.Late() != 0 {
		t.Errorf("then late by %v, and it had ended long before", o.Late())
	}
}

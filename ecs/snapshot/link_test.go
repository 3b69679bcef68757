package snapshot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// linkProfile is a bad link: shares, and delays in send intervals.
type linkProfile struct {
	loss, dup, ackLoss float64
	delay, ackDelay    int // at most, drawn evenly: so datagrams overtake each other
}

// packet is a datagram or, with no payload, the acknowledgement of one.
type packet struct {
	due     int
	t       tick.Tick
	payload []byte
	cookie  Cookie
}

// lifeModel is a server, its clients and what must hold between them.
type lifeModel struct {
	rng      *rand.Rand
	schema   schema.Schema
	interval tick.Tick
	world    *world
	ring     *Ring
	encoder  *Encoder
	packer   Packer
	truth    map[tick.Tick]*Frame
	clients  []*lifeClient
	budget   int
	sections int // decoded
	deltas   int // of these, with a baseline
	stale    int
}

type lifeClient struct {
	profile  linkProfile
	phase    tick.Tick
	tracker  *Tracker
	decoder  *Decoder
	down, up []packet
}

func newLifeModel(s schema.Schema, seed uint64, slots, clients int, interval tick.Tick, p linkProfile) *lifeModel {
	m := schema.DefaultModel(s)
	l := &lifeModel{
		rng: rand.New(rand.NewPCG(seed, 2)), schema: s, interval: interval,
		world: newWorld(s, slots, seed, 0.6, 0.03, 0.02),
		ring:  NewRing(s, slots, Window*int(interval), 1), encoder: NewEncoder(m, slots),
		truth: map[tick.Tick]*Frame{}, budget: RunBytes + MaxGroupBytes(m),
	}
	for i := range clients {
		l.clients = append(l.clients, &lifeClient{
			profile: p, phase: tick.Tick(i) % interval,
			tracker: NewTracker((slots+GroupRows-1)/GroupRows, interval), decoder: NewDecoder(m, slots, interval),
		})
	}
	return l
}

// step is one server tick and all that arrives during it.
func (l *lifeModel) step(now int) error {
	t := tick.Tick(now)
	l.world.step()
	f := l.ring.Begin(t)
	l.world.capture(f)
	l.truth[t] = cloneFrame(f, l.schema)
	delete(l.truth, t-8*Window)
	l.encoder.Begin(f, l.ring)
	for _, c := range l.clients {
		c.up = arrived(c.up, now, func(p packet) {
			first, count := p.cookie.Groups()
			c.tracker.Acked(p.cookie.Tick(), first, count)
		})
		if (t+c.phase)%l.interval == 0 {
			if err := l.send(c, now); err != nil {
				return err
			}
		}
		var err error
		c.down = arrived(c.down, now, func(p packet) {
			if err == nil {
				err = l.receive(c, p, now)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lifeModel) send(c *lifeClient, now int) error {
	t := tick.Tick(now)
	c.tracker.Advance(t)
	l.packer.Begin(l.encoder, c.tracker, 0, l.ring.Groups())
	want := 0
	for !l.packer.Done() {
		payload, first, count := l.packer.Next(nil, l.budget)
		if len(payload) > l.budget || first != want || count == 0 {
			return fmt.Errorf("tick %d: %d of %d bytes, groups %d+%d, want from %d", t, len(payload), l.budget, first, count, want)
		}
		want += count
		for copies := 1; copies > 0; copies-- {
			if l.rng.Float64() >= c.profile.loss {
				due := now + l.rng.IntN(c.profile.delay*int(l.interval)+1)
				c.down = append(c.down, packet{due, t, payload, MakeCookie(t, first, count, false)})
			}
			if l.rng.Float64() < c.profile.dup {
				copies++
			}
		}
	}
	if want != l.ring.Groups() {
		return fmt.Errorf("tick %d: %d groups packed, %d in use", t, want, l.ring.Groups())
	}
	return nil
}

// receive decodes and compares with the truth of the tick that the datagram names.
func (l *lifeModel) receive(c *lifeClient, p packet, now int) error {
	err := c.decoder.Section(p.t, p.payload)
	// Only a datagram that took longer than the window leaves room for may meet a frame or a baseline replaced.
	if late := now - int(p.t); errors.Is(err, ErrStale) && late >= int(l.interval)*Window ||
		errors.Is(err, ErrNoBaseline) && late >= int(l.interval)*(Window-MaxAge) {
		l.stale++
		return nil
	}
	if err != nil {
		return fmt.Errorf("tick %d, received at %d: %w", p.t, now, err)
	}
	l.sections++
	if p.payload[3] != 0 {
		l.deltas++
	}
	first, count := p.cookie.Groups()
	for g := first; g < first+count; g++ {
		if f := c.decoder.At(p.t); f == nil || !f.Has(g) || !f.GroupEqual(l.truth[p.t], g) {
			return fmt.Errorf("tick %d, group %d: the client's state is not the server's", p.t, g)
		}
	}
	if l.rng.Float64() >= c.profile.ackLoss {
		c.up = append(c.up, packet{now + l.rng.IntN(c.profile.ackDelay*int(l.interval)+1), p.t, nil, p.cookie})
	}
	return nil
}

// arrived hands over what is due and returns the rest.
func arrived(queue []packet, now int, f func(packet)) []packet {
	rest := queue[:0]
	for _, p := range queue {
		if p.due <= now {
			f(p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// TestRow35ModelChecker runs random lives over random links. A client's state is the server's for every tick it
// decodes, a baseline that a client lacks is never named, and a link that recovers brings everybody up to date.
func TestRow35ModelChecker(t *testing.T) {
	for i, c := range []struct {
		profile  linkProfile
		interval tick.Tick
		ticks    int
	}{
		{linkProfile{0, 0, 0, 0, 0}, 1, 200},
		{linkProfile{0.05, 0.02, 0.05, 2, 2}, 3, 1200},
		{linkProfile{0.3, 0.1, 0.3, 4, 4}, 1, 600},
		{linkProfile{0.3, 0.3, 0.1, 12, 30}, 2, 900},
		{linkProfile{0.5, 0.5, 0.5, 90, 90}, 1, 700}, // beyond the window: baselines run out, frames come too late
		{linkProfile{0.95, 0, 0.9, 3, 3}, 1, 700},
	} {
		for seed := range uint64(3) {
			l := newLifeModel(playerSchema, seed, 70, 3, c.interval, c.profile)
			if seed == 2 {
				l = newLifeModel(edgeSchema, seed, 40, 3, c.interval, c.profile)
			}
			now := 0
			run := func(n int) {
				for range n {
					now++
					if err := l.step(now); err != nil {
						t.Fatalf("case %d, seed %d: %v", i, seed, err)
					}
				}
			}
			run(c.ticks)
			if l.sections == 0 || c.profile.loss < 0.5 && l.deltas*2 < l.sections {
				t.Errorf("case %d, seed %d: %d sections, %d deltas: the test tests nothing", i, seed, l.sections, l.deltas)
			}
			for _, cl := range l.clients {
				cl.profile = linkProfile{}
			}
			run(100 * int(c.interval)) // what is late arrives, then every datagram does
			for n, cl := range l.clients {
				for g := range l.ring.Groups() {
					if newest := cl.decoder.Newest(g * GroupRows); newest+l.interval <= tick.Tick(now) {
						t.Errorf("case %d, seed %d: client %d is at tick %d of %d in group %d", i, seed, n, newest, now, g)
					}
					if base := cl.tracker.Base(g); base == 0 {
						t.Errorf("case %d, seed %d: client %d has no baseline for group %d on a clean link", i, seed, n, g)
					}
				}
			}
			if c.profile.delay > Window && l.stale == 0 && seed == 0 {
				t.Errorf("case %d: nothing came too late", i)
			}
		}
	}
}

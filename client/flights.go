package client

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// flights is what the client knows of things, and its own flights ahead of the server's word.
type flights struct {
	decoder *snapshot.Decoder // nil until the first thing is told, and if thin
	newest  tick.Tick         // of the snapshots that were compared
	used    int               // slots of which any was ever told
	known   []known           // by slot
	bowls   []bowl            // by slot
	steps   int               // of grenades that may still be worked out

	own   []own     // maxOwn of them, made with the first
	n     int       // under way
	heard tick.Tick // of the newest first package of a snapshot
	queue changes
	count Flights
	paces netstate.UpdateIntervals
	row   [netstate.ObjectStateFields]int32
}

// known is what the newest snapshot told of a slot.
type known struct {
	id    netid.ID
	phase uint8
	own   bool // one of ours
}

// Flights counts our own flights.
type Flights struct {
	Launched uint64  // as predicted
	Matched  uint64  // of these, told by the server
	Moved    uint64  // of these, otherwise than predicted
	Refused  uint64  // which the server does not know: they are gone
	Unshown  uint64  // not shown before the server told them, as too many were under way
	MaxJump  float32 // metres: the farthest that one was moved
}

// maxOwn is how many of our own flights are under way before the server has told and forgotten them.
const maxOwn = 64

// refuseAfter is how many snapshots may leave out a flight of ours that they should tell before it is taken to be refused: one of their
// packages may be lost, and in the first of a snapshot not all has room.
const refuseAfter = 3

// own is one of our flights.
type own struct {
	kind   netstate.Kind
	index  uint8 // of those of its class and tick
	misses uint8
	slot   int32    // the server's, if id is not 0
	id     netid.ID // of it
	path   object.Trajectory
	swept  tick.Tick // up to here nothing stood in its way
	landed tick.Tick // when it strikes the arena, 0: not yet
	at     geom.Vec3 // where
	bowl   bowl      // of a grenade
	launch object.Grenade
}

// What is a kind of change.
type What uint8

// The kinds of changes.
const (
	Appeared What = 1 + iota // it is told for the first time, or again
	Changed                  // its Phase is another: it struck, exploded, broke, took somebody
	Vanished                 // it is not told any more
	Launched                 // one of our own, predicted
	Matched                  // one of our own that the server tells, too
	Refused                  // one of our own that the server does not know
)

// Change is something that happened to a thing.
type Change struct {
	What  What
	Tick  tick.Tick // of the snapshot that told it, or of the command
	Thing Thing     // where the server has it; of Vanished only its ID
}

// changeRing is how many changes wait for NextChange.
const changeRing = 256

type changes struct {
	in, out uint64
	ring    []Change // made with the first
}

func (q *changes) add(w What, t tick.Tick, o *Thing) {
	if q.in-q.out == changeRing {
		q.out++
	}
	if q.ring == nil {
		q.ring = make([]Change, changeRing)
	}
	e := &q.ring[q.in%changeRing] // a literal would be built aside and copied
	e.What, e.Tick, e.Thing = w, t, *o
	q.in++
}

// NextChange returns the next thing that happened to things, each once, in the order in which it was learned: before the view comes to
// it. Of more than 256 that nobody asked for the oldest are forgotten; Things has the truth.
func (c *Client) NextChange() (Change, bool) {
	q := &c.flights.queue
	if q.in == q.out {
		return Change{}, false
	}
	e := q.ring[q.out%changeRing]
	q.out++
	return e, true
}

// open makes room for things, when the first is told: many lobbies have none.
func (f *flights) open(c *Client) {
	if f.decoder != nil {
		return
	}
	slots := netstate.ObjectSlots(int(c.welcome.MaxPlayers))
	f.decoder = snapshot.NewDecoder(c.cfg.Models.Objects, slots, tick.Tick(c.welcome.SendInterval))
	f.known, f.bowls = make([]known, f.decoder.Groups()*snapshot.GroupRows), make([]bowl, f.decoder.Groups()*snapshot.GroupRows)
}

// take takes an event that tells of things; false if it is none.
func (f *flights) take(raw []byte) bool {
	p, ok := netstate.ParseUpdateIntervals(raw)
	if ok {
		f.paces = p
	}
	return ok
}

// section takes in what a package of a snapshot says of things, and returns what follows. Errors are the decoder's, and netstate.ErrHeader.
func (f *flights) section(c *Client, h netstate.Header, src []byte) (rest []byte, err error) {
	if h.Objects {
		runs, sum, rest, err := h.CutObjects(src)
		if err != nil {
			return src, err
		}
		f.open(c)
		if h.Checked {
			err = f.decoder.CheckedSection(h.Tick, runs, sum)
		} else {
			err = f.decoder.Section(h.Tick, runs)
		}
		if err != nil {
			return src, err
		}
		f.compare(c, h.Tick)
		src = rest
	}
	if h.Owner && h.Tick > f.heard {
		f.heard = h.Tick
		f.expire(h.Tick)
	}
	return src, nil
}

// compare notes what has changed in the snapshot of tick t. An older one than was compared has nothing new to say.
func (f *flights) compare(c *Client, t tick.Tick) {
	fr := f.decoder.At(t)
	if t < f.newest || fr == nil { // or the runs were nothing but padding
		return
	}
	f.newest = t
	f.used = max(f.used, fr.Used())
	for slot := range f.used {
		if !fr.HasRow(slot) {
			continue
		}
		k, id := &f.known[slot], fr.ID(slot)
		if id == k.id {
			if id == 0 || uint8(fr.Value(slot, netstate.ObjectStateState)&7) == k.phase {
				continue
			}
		} else if k.id != 0 {
			f.vanish(t, slot)
		}
		var o Thing
		if !f.told(t, slot, &o) {
			continue
		}
		what := Changed
		if k.id != id {
			*k, what = known{id: id}, Appeared
			if o.Kind.Flies() && netid.ID(o.Owner) == c.ID() {
				k.own = f.match(c, t, slot, &o)
			}
		}
		k.phase = o.Phase
		f.queue.add(what, t, &o)
	}
}

// vanish notes that what was in a slot is not told any more.
func (f *flights) vanish(t tick.Tick, slot int) {
	k := &f.known[slot]
	for i := range f.own[:f.n] {
		if k.own && f.own[i].id == k.id {
			f.remove(i)
			break
		}
	}
	f.queue.add(Vanished, t, &Thing{ID: k.id})
	*k = known{}
}

func (f *flights) remove(i int) {
	copy(f.own[i:f.n], f.own[i+1:f.n])
	f.n--
}

// launch begins a flight of our own, with the command that lets it go.
func (f *flights) launch(c *Client, cmd *sim.Command, a *ability.Action) {
	s, k := c.predict.state(cmd.Tick), c.predict.kit
	o := own{swept: cmd.Tick}
	eye := k.Body(s.Hero).Eye(s.Motion.Pos)
	switch {
	case c.cfg.Thin || a.Kind != ability.ActionProjectile && a.Kind != ability.ActionGrenade:
		return
	case a.Kind == ability.ActionProjectile:
		o.kind = netstate.Projectile
		o.path = object.Launch(0, object.Trajectory{
			Start: eye, Yaw: cmd.Yaw, Pitch: cmd.Pitch + a.Pitch, Tick: cmd.Tick, Owner: c.ID(), Type: a.Type - 1, Team: s.Team,
		}, tick.View{}).Trajectory
		if int(o.path.Type) >= len(k.ProjectileKinds) {
			return
		}
	default:
		o.kind = netstate.Grenade
		o.launch = object.Throw(object.Grenade{
			Pos: eye, Vel: geom.Forward(cmd.Yaw, cmd.Pitch+a.Pitch).Scale(a.Speed), Owner: c.ID(), Thrown: cmd.Tick, Team: s.Team,
		})
		o.bowl.begin(0, o.launch, &k.GrenadeKinds[o.launch.Type], c)
	}
	for i := range f.own[:f.n] {
		if p := &f.own[i]; p.kind == o.kind && p.born() == cmd.Tick {
			o.index++
		}
	}
	f.count.Launched++
	if f.n == maxOwn {
		f.count.Unshown++
		return
	}
	if f.own == nil {
		f.own = make([]own, maxOwn)
	}
	f.own[f.n] = o
	f.n++
	t := o.thing()
	f.queue.add(Launched, cmd.Tick, &t)
}

// born is the tick in which the flight began.
func (o *own) born() tick.Tick {
	if o.kind == netstate.Grenade {
		return o.launch.Thrown
	}
	return o.path.Tick
}

// thing is the flight as it began.
func (o *own) thing() (t Thing) {
	if o.kind == netstate.Grenade {
		t.ObjectState.OfGrenade(&o.launch, &o.launch, int(o.index))
	} else {
		p := object.Projectile{Trajectory: o.path}
		t.ObjectState.OfProjectile(&p, int(o.index))
	}
	t.ID, t.Since, t.Own = o.id, o.born(), true
	return t
}

// match finds which of our own flights a row of the snapshot of tick t is: of the same class, command and index. What the server says of
// it then replaces what was predicted.
func (f *flights) match(c *Client, t tick.Tick, slot int, o *Thing) bool {
	for i := range f.own[:f.n] {
		p := &f.own[i]
		if p.id != 0 || p.kind != o.Kind || p.born() != o.Since || p.index != o.Index {
			continue
		}
		f.count.Matched++
		p.id, p.slot = o.ID, int32(slot)
		now := c.acting()
		was := p.where(c, now)
		if p.adopt(c, t, o) {
			f.count.Moved++
			f.count.MaxJump = max(f.count.MaxJump, was.Sub(p.where(c, now)).Len())
		}
		f.queue.add(Matched, t, o)
		return true
	}
	return false
}

// adopt takes over how the server says a flight began, and reports whether that is otherwise than we thought. Of one that is over already
// it says no more than where.
func (p *own) adopt(c *Client, t tick.Tick, o *Thing) bool {
	if o.Over() {
		return false
	}
	if p.kind == netstate.Grenade {
		g := o.Launch(t)
		if g.Pos == p.launch.Pos && g.Vel == p.launch.Vel && g.Type == p.launch.Type {
			return false
		}
		if p.launch = g; int(g.Type) < len(c.predict.kit.GrenadeKinds) {
			p.bowl.begin(0, g, &c.predict.kit.GrenadeKinds[g.Type], c)
		}
		return true
	}
	path := o.Flight(t)
	if path == p.path || int(path.Type) >= len(c.predict.kit.ProjectileKinds) {
		return false
	}
	p.path, p.swept, p.landed = path, path.Tick, 0
	return true
}

// expire drops those of our flights that the server should have told by now, as the snapshot of tick t begins, and has not.
func (f *flights) expire(t tick.Tick) {
	for i := f.n - 1; i >= 0; i-- {
		p := &f.own[i]
		if p.id != 0 || p.born() > t {
			continue
		}
		if p.misses++; p.misses >= refuseAfter {
			f.count.Refused++
			gone := p.thing()
			f.queue.add(Refused, t, &gone)
			f.remove(i)
		}
	}
}

// where is the flight at an instant, by our own reckoning: it stops at what stands in the arena.
func (p *own) where(c *Client, now instant) geom.Vec3 {
	if p.kind == netstate.Grenade {
		k := &c.predict.kit.GrenadeKinds[p.launch.Type]
		if p.bowl.at > now.tick { // the clock went back
			p.bowl.begin(0, p.launch, k, c)
		}
		p.bowl.advance(k, c, now.tick, maxSteps)
		return lerp(p.bowl.a.Pos, p.bowl.b.Pos, now.frac)
	}
	r := &c.predict.kit.ProjectileKinds[p.path.Type]
	for end := min(now.tick+1, p.path.Tick+r.Life); p.landed == 0 && p.swept < end; {
		p.swept++
		if at, ok := p.path.HitsArena(r, c.predict.arena, p.swept); ok {
			p.landed, p.at = p.swept, at
		}
	}
	at := func(t tick.Tick) geom.Vec3 {
		if p.landed != 0 && t >= p.landed {
			return p.at
		}
		return p.path.At(r, t)
	}
	return lerp(at(now.tick), at(now.tick+1), now.frac)
}

// show is the flight at an instant; false if it is spent. Once the server has told how it ended, that is shown.
func (p *own) show(c *Client, f *flights, now instant) (o Thing, ok bool) {
	if p.id != 0 {
		if fr := f.decoder.At(f.decoder.Newest(int(p.slot))); fr != nil && fr.ID(int(p.slot)) == p.id && f.told(fr.Tick, int(p.slot), &o) && o.Over() {
			o.Own = true
			return o, true
		}
	}
	o = p.thing()
	if p.kind == netstate.Projectile && p.landed == 0 && now.tick >= p.path.Tick+c.predict.kit.ProjectileKinds[p.path.Type].Life {
		return o, false
	}
	o.Pos = p.where(c, now)
	if p.landed != 0 && now.tick >= p.landed {
		o.Phase, o.Span = uint8(object.HitGround), uint16(p.landed-p.path.Tick)
	}
	return o, true
}

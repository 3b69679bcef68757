package server

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ghost"
	"github.com/tickrate/tickrate/sim/object"
	"github.com/tickrate/tickrate/sim/sight"
)

// things is the second plane of snapshots: what is no player. Slots are given to what stands about first, and then to flights, the
// lowest free one; a flight for which there is none waits for one, and is counted.
type things struct {
	frames   *snapshot.Ring
	frame    *snapshot.Frame // of the tick at hand
	encoder  *snapshot.Encoder
	packer   snapshot.Packer
	sums     snapshot.Sums
	paces    ghost.Paces
	interval tick.Tick

	berths []berth  // by slot
	used   []uint64 // slots that have one
	fixed  int      // of them those of what stands about
	flies  [2][]int16
	past   []past // by tick, modulo its length
	untold uint64 // flights of this tick without a slot
	row    [ghost.ThingFields]int32
	thing  ghost.Thing

	on  bool // the snapshot at hand has a part about things
	all bool // it is about all of them
	by  bool // it had to leave some out

	scenery scenery
}

// berth is a slot of the plane and what is in it.
type berth struct {
	of     ecs.NetID // the match's id
	id     ecs.NetID // the plane's: the slot and a generation
	kind   ghost.Kind
	index  uint8 // of a flight among its owner's of that tick
	told   tick.Tick
	launch object.Grenade
}

// past is what a frame was like.
type past struct {
	tick    tick.Tick
	version uint32 // another one if a row is another than in the tick before
	groups  int
}

func newThings(c *Config) *things {
	slots := ghost.ThingSlots(c.Players)
	frames := snapshot.Window*c.Interval + 1
	w := &things{
		frames:  snapshot.NewRing(ghost.Things, slots, frames, 1),
		encoder: snapshot.NewEncoder(c.Models.Things, slots),
		paces:   c.Paces, interval: tick.Tick(c.Interval),
		berths: make([]berth, slots), used: make([]uint64, (slots+63)/64),
		past: make([]past, frames),
	}
	for i := range w.flies {
		w.flies[i] = make([]int16, 0, 4*slots)
	}
	w.packer.Reserve(slots)
	if c.Relevance != RelevanceOff {
		w.encoder.Reserve()
		w.scenery = newScenery(c, slots)
	}
	return w
}

// checkThings checks what a configuration says of things.
func (c *Config) checkThings() error {
	var ok bool
	if c.Paces, ok = c.Paces.WithDefaults(); !ok {
		return fmt.Errorf("paces of things %v: expected at most %d snapshots", c.Paces, ghost.MaxPace)
	}
	if g := c.Rules.Game; g != nil {
		if n := len(g.Layout.Teleporters) + len(g.Layout.Points) + len(g.Layout.Barrels) + len(g.Layout.Cubes); n > ghost.MaxStanding {
			return fmt.Errorf("%d things stand about the map: expected at most %d", n, ghost.MaxStanding)
		}
	}
	return nil
}

// tellPaces tells a guest that is just in how often things are told.
func (l *Lobby) tellPaces(g *guest) {
	if g.peer.Queue(l.things.paces.Append(l.event[:0])) != nil {
		l.Stats.Count[EventsRefused].Inc()
	}
}

// ThingFrame returns the frame of things of a recent tick as it was sent, nil if it is gone; valid until the next Tick.
func (l *Lobby) ThingFrame(t tick.Tick) *snapshot.Frame { return l.things.frames.At(t) }

// begin turns to the frame that capture has written.
func (w *things) begin() {
	w.encoder.Begin(w.frame, w.frames)
	w.sums.Begin(w.frame)
}

// thingRoom is how many bytes of a snapshot things may take that does not tell all of them at once. Its first package has head bytes.
func (l *Lobby) thingRoom(now time.Duration, g *guest, head int) int {
	room := l.cfg.JoinBytes / joinShare
	if g.bucket.Rate() != 0 {
		room = g.bucket.Room(now, g.share(l)) / thingShare
	}
	return max(0, min(room, wire.MaxPackage-head-reserve())-thingHead)
}

// thingHead is what a part about things takes before its runs, at most.
const thingHead = 2 + 4

// capture writes the frame of the tick that was just played.
func (w *things) capture(m *sim.Match) {
	t := m.Tick()
	f := w.frames.Begin(t)
	w.frame = f
	w.scenery.begin(t)
	w.untold = 0
	o, s := m.Objects(), m.Scene()
	w.furnish(len(o.Ports), len(o.Zones), len(s.Barrel), len(s.Cube))
	slot := 0
	for i := range o.Ports {
		w.thing.OfTeleporter(&o.Ports[i], t)
		w.tell(f, slot)
		slot++
	}
	for i := range o.Zones {
		w.thing.OfZone(i, &o.Zones[i], &o.Occupied[i], m.Mode(), m.Kit().Mode)
		w.tell(f, slot)
		slot++
	}
	for i := range s.Barrel {
		w.thing.OfBarrel(&s.Barrel[i], t)
		w.tell(f, slot)
		slot++
	}
	for i := range s.Cube {
		w.thing.OfCube(&s.Cube[i])
		w.tell(f, slot)
		slot++
	}
	w.projectiles(f, o.Projectiles, m.Kit().Ammo)
	w.grenades(f, o.Grenades)
	w.vacate(t)
	w.note(f)
}

// furnish gives slots to what stands about. If there is another number of it than before, all slots begin anew.
func (w *things) furnish(ports, zones, barrels, cubes int) {
	n := [4]int{ports, zones, barrels, cubes}
	kinds := [4]ghost.Kind{ghost.Teleporter, ghost.Zone, ghost.Barrel, ghost.Cube}
	slot, same := 0, true
	for i, k := range kinds {
		for range n[i] {
			if slot >= len(w.berths) {
				panic("server: more things stand about than the lobby tells of")
			}
			same = same && slot < w.fixed && w.berths[slot].kind == k
			slot++
		}
	}
	if same && slot == w.fixed {
		return
	}
	clear(w.used)
	for i := range w.flies {
		w.flies[i] = w.flies[i][:0]
	}
	slot, w.fixed = 0, slot
	for i := range w.berths {
		w.berths[i].kind, w.berths[i].of = 0, 0
	}
	for i, k := range kinds {
		for range n[i] {
			w.sit(slot, k, 0)
			slot++
		}
	}
}

// sit gives a slot away.
func (w *things) sit(slot int, k ghost.Kind, of ecs.NetID) *berth {
	c := &w.berths[slot]
	w.used[slot>>6] |= 1 << (slot & 63)
	gen := c.id.Generation() + 1
	*c = berth{of: of, id: ecs.MakeNetID(slot, max(gen, 1)), kind: k}
	return c
}

// tell writes the thing at hand into a slot: as it is, or as it was when its class was told last.
func (w *things) tell(f *snapshot.Frame, slot int) {
	c := &w.berths[slot]
	c.told = f.Tick
	w.scenery.put(slot, c, &w.thing, w.thing.Pos)
	if back := w.paces.Back(c.kind, f.Tick, w.interval); back != 0 && back < f.Tick {
		if old := w.frames.At(f.Tick - back); old != nil && old.ID(slot) == c.id {
			old.Row(slot, w.row[:])
			f.Set(slot, c.id, w.row[:])
			return
		}
	}
	w.thing.Row(w.row[:])
	f.Set(slot, c.id, w.row[:])
}

func (w *things) projectiles(f *snapshot.Frame, all []object.Projectile, ammo []object.Round) {
	for i := range all {
		p := &all[i]
		slot, c := w.find(0, p.ID, p.ID.Index()-sim.FirstProjectile, ghost.Projectile)
		if c == nil {
			continue
		}
		if c.told == 0 {
			for k := i - 1; k >= 0 && all[k].Owner == p.Owner && all[k].Tick == p.Tick; k-- {
				c.index++
			}
		}
		w.thing.OfProjectile(p, int(c.index))
		w.tell(f, slot)
		if p.Struck == object.Flying && w.scenery.grid != nil && int(p.Type) < len(ammo) {
			w.scenery.move(slot, p.At(&ammo[p.Type], f.Tick))
		}
	}
}

func (w *things) grenades(f *snapshot.Frame, all []object.Grenade) {
	for i := range all {
		g := &all[i]
		slot, c := w.find(1, g.ID, g.ID.Index()-sim.FirstGrenade, ghost.Grenade)
		if c == nil {
			continue
		}
		if c.told == 0 {
			for k := i - 1; k >= 0 && all[k].Owner == g.Owner && all[k].Thrown == g.Thrown; k-- {
				c.index++
			}
			if c.launch = *g; g.Thrown != f.Tick { // it had to wait for its slot: it is told as if thrown from where it is
				c.launch.Thrown = f.Tick
			}
		}
		w.thing.OfGrenade(g, &c.launch, int(c.index))
		w.tell(f, slot)
		w.scenery.move(slot, g.Pos)
	}
}

// find is the slot of a flight with an id and its index in the match's list, a fresh one if it has none; nil if all are taken.
func (w *things) find(list int, of ecs.NetID, index int, k ghost.Kind) (slot int, c *berth) {
	at := w.flies[list]
	for len(at) <= index {
		at = append(at, -1)
	}
	w.flies[list] = at
	if slot = int(at[index]); slot >= w.fixed && slot < len(w.berths) && w.berths[slot].of == of && w.used[slot>>6]>>(slot&63)&1 != 0 {
		return slot, &w.berths[slot]
	}
	for i, word := range w.used {
		if word == ^uint64(0) {
			continue
		}
		if slot = i*64 + bits.TrailingZeros64(^word); slot >= len(w.berths) {
			break
		}
		at[index] = int16(slot)
		return slot, w.sit(slot, k, of)
	}
	w.untold++
	return 0, nil
}

// vacate frees the slots of flights that are gone.
func (w *things) vacate(t tick.Tick) {
	for i, word := range w.used {
		for ; word != 0; word &= word - 1 {
			slot := i*64 + bits.TrailingZeros64(word)
			if w.berths[slot].told != t {
				w.used[i] &^= 1 << (slot & 63)
				w.berths[slot].of = 0
			}
		}
	}
}

// note remembers whether this frame is like the one before.
func (w *things) note(f *snapshot.Frame) {
	was := w.pastOf(f.Tick - 1)
	p := &w.past[int(f.Tick)%len(w.past)]
	*p = past{tick: f.Tick, version: was.version, groups: w.frames.Groups()}
	before := w.frames.At(f.Tick - 1)
	if before == nil || was.tick == 0 {
		p.version++
		return
	}
	for g := range p.groups {
		if !f.GroupEqual(before, g) {
			p.version++
			return
		}
	}
}

// pastOf is what the frame of a tick was like; zero if that is forgotten.
func (w *things) pastOf(t tick.Tick) past {
	if p := w.past[int(t)%len(w.past)]; p.tick == t {
		return p
	}
	return past{}
}

// hold is what one guest holds of things.
type hold struct {
	tracker *snapshot.Tracker
	eyes    *interest.Client // nil until it is asked for
	entered bool             // it holds all there is, or may be sent it at once
	settled tick.Tick        // of the first snapshot that left out nothing, 0: none
	blocks  tick.Tick        // since when its snapshots are about all things, 0: they are not
	whole   tick.Tick        // the newest such that it acknowledged as a whole, 0: none
}

func newHold(c *Config) hold {
	k := snapshot.NewTracker(ghost.ThingSlots(c.Players)/snapshot.GroupRows, tick.Tick(c.Interval))
	k.Alone() // a flight is not expected to go on: it is told once
	return hold{tracker: k}
}

// reset takes the guest to be a new one.
func (h *hold) reset() {
	if h.eyes != nil {
		h.eyes.Reset()
	}
	h.tracker.Reset()
	*h = hold{tracker: h.tracker, eyes: h.eyes}
}

// forget takes the guest to hold nothing.
func (h *hold) forget() {
	h.tracker.Forget()
	h.entered, h.settled, h.blocks, h.whole = false, 0, 0, 0
}

// acked notes that groups of the snapshot of tick t have arrived.
func (h *hold) acked(w *things, t tick.Tick, s span) {
	h.tracker.Acked(t, s.first, s.count)
	h.entered = h.entered || h.settled != 0 && t >= h.settled // what is not acked is sent in full again, which must not be much
	if p := w.pastOf(t); h.blocks != 0 && t >= h.blocks && t > h.whole && s.first == 0 && p.tick != 0 && s.count == p.groups {
		h.whole = t
	}
}

// refresh is how many intervals old what a guest holds may get while nothing changes: a baseline lasts twice as long.
const refresh = snapshot.MaxAge / 2

// still reports whether the guest holds just what is there.
func (w *things) still(h *hold, t tick.Tick) bool {
	if h.whole == 0 || t-h.whole >= refresh*w.interval {
		return false
	}
	p := w.pastOf(h.whole)
	return p.tick != 0 && p.version == w.pastOf(t).version
}

// plan decides what the snapshot of tick t tells a guest of things, in room bytes at most if it cannot have all at once. In blocks
// that all share, if it may have all; of what it sees all, or as much as fits, row by row, if not.
func (l *Lobby) plan(g *guest, t tick.Tick, room int) {
	w, h := l.things, &g.things
	w.on, w.all, w.by = false, false, false
	if w.frames.Groups() == 0 || w.still(h, t) {
		return
	}
	h.tracker.Advance(t)
	grid, limited := l.cfg.Relevance == RelevanceGrid, g.bucket.Rate() != 0
	if !grid && (l.cfg.Relevance == RelevanceOff || !limited && h.in(w, l.cfg.JoinBytes/joinShare)) {
		w.packer.Begin(w.encoder, h.tracker, 0, w.frames.Groups())
		w.on, w.all = true, true
		if h.blocks == 0 {
			h.blocks = t
		}
		return
	}
	h.blocks, h.whole = 0, 0
	see := w.scenery.look(l, g, limited || !h.entered)
	if grid && !limited && h.entered {
		w.packer.BeginRows(w.encoder, h.tracker, w.scenery.with(see))
	} else if w.by = true; w.squeeze(g, see, 8*room) {
		h.settled = 0
		l.Stats.Count[ThingsSqueezed].Inc()
	} else if h.settled == 0 && grid && !limited {
		h.settled = t
	}
	w.on = !w.packer.Done()
}

// joinShare is which part of a newcomer's snapshot things may take, and thingShare of that to a guest whose line is limited.
const (
	joinShare  = 3
	thingShare = 4
)

// thingBits is what a row takes at most that has no baseline.
var thingBits = fieldBits(ghost.Things) + 24

// in reports whether a guest that sees all holds enough for blocks alone, as guest.in does for players.
func (h *hold) in(w *things, most int) bool {
	if h.entered {
		return true
	}
	n := 0
	for _, word := range w.used {
		n += bits.OnesCount64(word)
	}
	h.entered = n*thingBits <= 8*most
	if !h.entered && h.tracker.Base(0) != 0 {
		h.entered = true
		for g := range w.frames.Groups() {
			h.entered = h.entered && h.tracker.Base(g) != 0
		}
	}
	return h.entered
}

// squeeze begins a part about the rows of see in so many bits: the guest's own flights first. It reports whether some have to wait.
func (w *things) squeeze(g *guest, see []uint64, most int) bool {
	d := &w.scenery
	fixed := w.packer.Weigh(w.encoder, g.things.tracker, see, d.cost)
	left, total := most-fixed, 0
	for _, n := range d.cost[:len(see)*64] {
		total += int(n)
	}
	if total+blockBits*w.frames.Groups() <= left {
		w.packer.BeginRows(w.encoder, g.things.tracker, d.with(see))
		return false
	}
	clear(d.pick)
	for s := d.first(g.id.Index()); s >= 0; s = d.next[s] {
		if n := int(d.cost[s]); n > 0 && n <= left {
			left -= n
			d.cost[s] = 0
			d.pick[s>>6] |= 1 << (s & 63)
		}
	}
	g.things.eyes.Pick(d.cost, max(left, 0))
	for i, word := range g.things.eyes.Picked() {
		d.pick[i] |= word
	}
	w.packer.Pick(d.pick)
	return total > most-fixed
}

// told notes what a snapshot has said, so that it begins to wait anew.
func (w *things) told(g *guest) {
	if w.on && w.by {
		g.things.eyes.Sent(w.packer.Said(w.scenery.said[:0]))
	}
}

// more reports whether the snapshot at hand has not told all of things that it is to tell.
func (w *things) more() bool { return w.on && !w.packer.Done() }

// reserve is what a package keeps for the players' rows when there are more things than fit.
func reserve() int { return snapshot.RunBytes + groupBytes() }

// write appends the part about things to a package, and returns which groups it is about; the head says whether there is one.
func (w *things) write(dst []byte, head *ghost.Head, room int) (_ []byte, groups span) {
	head.Things = false
	if !w.more() {
		return dst, span{}
	}
	at := len(dst)
	out := head.AppendThings(dst)
	body := len(out)
	out, groups.first, groups.count = w.packer.Next(out, room-(body-at))
	if len(out) == body {
		return dst, span{}
	}
	sum := uint32(0)
	if head.Checked {
		sum = w.packer.Sum(&w.sums, groups.first, groups.count)
	}
	head.SealThings(out, at, sum)
	head.Things = true
	return out, groups
}

// scenery is where things are, for those who look; empty if nobody does.
type scenery struct {
	grid  *interest.Grid
	walls *sight.Crowd // nil where none hide anything
	at    tick.Tick    // of the grid
	now   tick.Tick    // of the columns
	ids   []ecs.NetID
	pos   []geom.Vec3
	x, z  []float32
	team  []uint8
	open  []uint64 // what everybody sees: teleporters and zones, which belong to the round
	none  []uint64 // slots in which nothing is
	heads []int16  // by player: the first of its flights, -1 for none
	next  []int16  // by slot: the one behind it
	see   []uint64
	wide  []uint64
	cost  []uint16
	pick  []uint64
	said  []uint64
}

func newScenery(c *Config, slots int) scenery {
	cfg := c.grid()
	cfg.Slots = slots
	var walls *sight.Crowd
	if c.Walls != nil && c.Relevance == RelevanceGrid {
		walls = sight.NewCrowd(c.Walls)
		cfg.Sights = walls.Seen
	}
	g := interest.NewGrid(cfg)
	n := g.Words()
	d := scenery{grid: g, walls: walls, ids: make([]ecs.NetID, slots), pos: make([]geom.Vec3, slots), x: make([]float32, slots), z: make([]float32, slots),
		team: make([]uint8, slots), open: make([]uint64, n), none: make([]uint64, n), heads: make([]int16, c.Players), next: make([]int16, slots),
		see: make([]uint64, n), wide: make([]uint64, n), cost: make([]uint16, n*64), pick: make([]uint64, n), said: make([]uint64, 0, n+1)}
	d.warm(c.Players)
	return d
}

// warm makes the grid take its memory: for views from as many cells as players can stand in at a time.
func (d *scenery) warm(players int) {
	cfg := d.grid.Config()
	d.grid.Fill(d.ids, d.x, d.z, d.team, nil)
	anybody := interest.NewClient(d.grid)
	for i := range min(players, cfg.Wide*cfg.Deep) {
		at := interest.Viewer{Slot: -1, X: cfg.MinX + (float32(i%cfg.Wide)+0.5)*cfg.Cell, Z: cfg.MinZ + (float32(i/cfg.Wide)+0.5)*cfg.Cell}
		anybody.Look(d.grid, at, nil)
	}
}

// begin empties the columns.
func (d *scenery) begin(t tick.Tick) {
	if d.grid == nil {
		return
	}
	d.now = t
	clear(d.ids)
	clear(d.open)
	for i := range d.none {
		d.none[i] = ^uint64(0)
	}
	for i := range d.heads {
		d.heads[i] = -1
	}
}

// put takes in a thing.
func (d *scenery) put(slot int, c *berth, o *ghost.Thing, pos geom.Vec3) {
	if d.grid == nil {
		return
	}
	bit := uint64(1) << (slot & 63)
	d.ids[slot], d.pos[slot] = c.id, pos
	d.none[slot>>6] &^= bit
	if c.kind == ghost.Teleporter || c.kind == ghost.Zone {
		d.open[slot>>6] |= bit
	}
	if owner := ecs.NetID(o.Owner).Index(); c.kind.Flies() && owner < len(d.heads) {
		d.next[slot] = d.heads[owner]
		d.heads[owner] = int16(slot)
	}
}

// move corrects where a thing is.
func (d *scenery) move(slot int, pos geom.Vec3) {
	if d.grid != nil {
		d.pos[slot] = pos
	}
}

// first is the slot of a player's first flight, -1 for none.
func (d *scenery) first(player int) int16 { return d.heads[player] }

// fill turns the grid to the tick's things, once a tick. What hides a player hides a thing: walls are asked for the height at which
// players and things are.
func (d *scenery) fill(l *Lobby) {
	if d.at == d.now {
		return
	}
	d.at = d.now
	if d.walls != nil {
		d.walls.Reset()
		for slot, pose := range l.match.Poses() {
			if l.crowd.ids[slot] != 0 {
				d.walls.Raise(pose.Pos.X, pose.Pos.Y, pose.Pos.Z)
			}
		}
	}
	for slot, id := range d.ids {
		if id == 0 {
			continue
		}
		p := d.pos[slot]
		d.x[slot], d.z[slot] = p.X, p.Z
		if d.walls != nil {
			d.walls.Raise(p.X, p.Y, p.Z)
		}
	}
	d.grid.Fill(d.ids, d.x, d.z, d.team, nil)
}

// look finds what of things a guest may see: by the rules for players, and what is its own, and what belongs to the round. It is
// valid until the next call.
func (d *scenery) look(l *Lobby, g *guest, weigh bool) []uint64 {
	h, s := &g.things, &l.crowd
	s.fill(l, l.frames.At(l.match.Tick()))
	d.fill(l)
	if h.eyes == nil {
		h.eyes = interest.NewClient(d.grid)
	}
	slot := g.id.Index()
	v := interest.Viewer{Slot: -1, X: s.x[slot], Z: s.z[slot]}
	if weigh {
		v.DirX, v.DirZ = l.match.Poses()[slot].Yaw.SinCos()
		h.eyes.Look(d.grid, v, nil)
	} else {
		h.eyes.See(d.grid, v)
	}
	for i, word := range h.eyes.Seen() {
		d.see[i] = word | d.open[i]
	}
	for own := d.heads[slot]; own >= 0; own = d.next[own] {
		d.see[own>>6] |= 1 << (own & 63)
	}
	return d.see
}

// with adds to a set the slots in which nothing is. It is valid until the next call.
func (d *scenery) with(see []uint64) []uint64 {
	for i, word := range see {
		d.wide[i] = word | d.none[i]
	}
	return d.wide
}

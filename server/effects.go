package server

import (
	"math"
	"time"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/prefetch"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/pvs"
)

// effects are the newest effects of a match that no client can derive from rows, and the choice of
// those that a snapshot tells. Each client has a queue of those that concern it.
type effects struct {
	format   effect.Format
	life     tick.Tick
	of       []connEffects        // by slot of the connection
	queues   []queuedEffect       // memory of their queues
	log      []loggedEffect       // a ring, by number; empty: none are told
	reach    []effectReach        // of log, what decides for most clients
	added    uint32               // number of the next effect
	young    youngEffects         // of the newest tick
	newest   tick.Tick            // of the newest effect
	reserved int                  // bytes of the snapshot at hand
	told     []effect.Effect      // scratch of a tick
	chosen   []uint8              // of the snapshot at hand: places in the client's queue
	items    []effect.Item        // scratch of a part
	near     [maxEffectLog]uint16 // scratch of queueStretch
}

// Bounds of effects.
const (
	maxEffectQueue = 16  // effects that wait for a client or its ack
	maxEffectSends = 3   // times that an effect is told
	repeatParts    = 10  // an effect is told again for a second divided by this
	spacingParts   = 20  // and not before a second divided by this
	maxEffectLog   = 512 // effects that the ring keeps
)

// Shares of effects.
const (
	defaultEffectBytes  = 24
	minEffectBytes      = 16
	maxEffectBytes      = 120
	limitedEffectsShare = 8   // effects may take this part of a limited snapshot
	limitedEffectsFrom  = 128 // bytes, beyond these, which are for rows
)

// loggedEffect is an effect and, of an impact on the map, its place on the wire.
type loggedEffect struct {
	effect.Effect
	place geom.Vec3
}

// effectReach is which clients an effect may concern: most clients are beyond effect.Range of most
// impacts, and damage concerns its victim alone.
type effectReach struct {
	pos    geom.Vec3 // of an impact; of damage NaN, which is within no distance
	victim netid.ID  // of damage; 0: an impact
}

// youngEffects counts the newest effects that are young enough to be told, by the times that an
// effect was told before.
type youngEffects [maxEffectSends + 1]uint32

// newEffects makes the ring for a match.
func newEffects(c *Config) effects {
	rate := c.Rules.Rate
	s := effects{
		format: effect.NewFormat(c.Players, c.Arena.Bounds, rate), life: effect.Life(rate),
		of: make([]connEffects, c.Players),
	}
	if c.EffectBytes > 0 {
		s.queues = make([]queuedEffect, maxEffectQueue*c.Players)
		for slot := range s.of {
			s.of[slot].queue = s.queues[slot*maxEffectQueue:][:0:maxEffectQueue]
		}
		s.log = make([]loggedEffect, min(8*c.Players, maxEffectLog))
		s.reach = make([]effectReach, len(s.log))
		s.told = make([]effect.Effect, 0, 2*c.Players)
		s.chosen, s.items = make([]uint8, 0, maxEffectQueue), make([]effect.Item, 0, maxEffectQueue)
	}
	return s
}

// note takes the effects of the tick that the match has just played.
func (s *effects) note(m *sim.Match) {
	if len(s.log) == 0 {
		return
	}
	if o := m.Outcome(); len(o.Shots)+len(o.Damage) > 0 {
		s.told = effect.AppendTold(s.told[:0], m)
		for i := range s.told {
			s.add(m, &s.told[i])
		}
	}
	s.forgetOld(m.Tick())
}

// add puts an effect of the newest tick into the ring.
func (s *effects) add(m *sim.Match, e *effect.Effect) {
	x, reach := s.put(m.Tick())
	x.Effect, x.place = *e, e.Pos
	*reach = effectReach{pos: e.Pos}
	switch {
	case e.Kind == effect.Damage:
		*reach = damageReach(e.Target)
	case e.Surface == effect.Map:
		x.place = s.format.Fit(m.Scene().Arena, e)
	}
}

// put makes room for another effect of a tick.
func (s *effects) put(t tick.Tick) (*loggedEffect, *effectReach) {
	size := uint32(len(s.log))
	at := s.added % size
	s.log[at].Tick = t
	s.added++
	s.newest = t
	for sends := range s.young[:maxEffectSends] {
		s.young[sends] = min(s.young[sends]+1, size)
	}
	return &s.log[at], &s.reach[at]
}

// damageReach is the reach of damage to a player.
func damageReach(victim netid.ID) effectReach {
	nan := float32(math.NaN())
	return effectReach{pos: geom.Vec3{X: nan, Y: nan, Z: nan}, victim: victim}
}

// forgetOld takes the effects that are too old in a tick out of young.
func (s *effects) forgetOld(t tick.Tick) {
	life := s.life
	for sends := range s.young[:maxEffectSends] {
		young := &s.young[sends]
		for *young > 0 && t-s.at(s.added-*young).Tick > life {
			*young--
		}
		life = s.life * effect.LifeParts / repeatParts
	}
}

// quiet reports whether no effect is young enough to be told.
func (s *effects) quiet(t tick.Tick) bool { return s.newest == 0 || t-s.newest > s.life }

// queueOf is the queue of a client.
func (s *effects) queueOf(c *connReplication) *connEffects { return &s.of[c.viewer.player.Index()] }

// at is the effect with a number that the ring holds.
func (s *effects) at(number uint32) *loggedEffect { return &s.log[number%uint32(len(s.log))] }

// connEffects are the effects that a client has yet to be told, or to acknowledge.
type connEffects struct {
	next  uint32 // number of the first effect that was not looked at
	id    uint8  // of the next effect that is told
	last  uint8  // place of the last in rank; of a full queue
	queue []queuedEffect
}

// queuedEffect is one of them.
type queuedEffect struct {
	number uint32
	rank   uint32                 // those of a lower rank are told first
	sentIn [maxEffectSends]uint16 // ticks of the snapshots that told it, the last first
	sends  uint8
	id     uint8 // once it was told
}

// tell records that the snapshot of a tick tells the effect.
func (e *queuedEffect) tell(t tick.Tick) {
	e.sentIn = [maxEffectSends]uint16{uint16(t), e.sentIn[0], e.sentIn[1]}
	e.sends++
}

// prefetch loads the queue of the client in a slot.
func (s *effects) prefetch(slot int) {
	if s.newest != 0 {
		prefetch.Bytes(unsafe.Pointer(&s.of[slot]), unsafe.Sizeof(connEffects{}))
		prefetch.Bytes(unsafe.Pointer(&s.queues[slot*maxEffectQueue]), maxEffectQueue*unsafe.Sizeof(queuedEffect{}))
	}
}

// reset forgets all effects; the memory stays.
func (q *connEffects) reset() { *q = connEffects{queue: q.queue[:0]} }

// acked forgets the effects that the first packet of a client's snapshot of tick t told.
func (s *effects) acked(c *connReplication, t tick.Tick) {
	if s.newest == 0 || t > s.newest && t-s.newest > s.life {
		return
	}
	q, at, kept := s.queueOf(c), uint16(t), 0
	for i := range q.queue { // without a branch: what is acknowledged cannot be predicted
		e := &q.queue[i]
		told := geom.Bit(e.sentIn[0] == at) | geom.Bit(e.sentIn[1] == at)<<1 | geom.Bit(e.sentIn[2] == at)<<2
		told &= 1<<(e.sends&7) - 1
		q.queue[kept] = *e
		kept += geom.Bit(told == 0)
	}
	q.queue = q.queue[:kept]
}

// add queues an effect. In a full queue it takes the place of the last in rank.
func (q *connEffects) add(e queuedEffect) {
	switch {
	case len(q.queue) < maxEffectQueue:
		q.queue = append(q.queue, e)
	case e.rank < q.queue[q.last].rank:
		q.queue[q.last] = e
	default:
		return
	}
	if len(q.queue) == maxEffectQueue {
		q.findLast()
	}
}

// findLast finds the last in rank.
func (q *connEffects) findLast() {
	last := uint64(0)
	for i := range q.queue { // without a branch
		last = max(last, uint64(q.queue[i].rank)<<8|uint64(0xff-i))
	}
	q.last = uint8(0xff - last&0xff)
}

// chooseEffects chooses the effects that the client's snapshot of the newest tick tells, and
// reserves the bytes that they take at most.
func (r *replication) chooseEffects(now time.Duration, c *connReplication) {
	s, t := &r.effects, r.match.Tick()
	q := s.queueOf(c)
	s.chosen, s.reserved = s.chosen[:0], 0
	if s.quiet(t) {
		return
	}
	s.expire(q)
	r.queueEffects(c)
	if len(q.queue) == 0 {
		return
	}
	most := 8 * r.cfg.EffectBytes
	if c.pacing.bucket.Rate() != 0 {
		most = min(most, 8*(c.pacing.bucket.Room(now, r.spacing(c))-limitedEffectsFrom)/limitedEffectsShare)
	}
	used := effect.HeadBits
	for order := s.order(q, t); ; {
		i := order.next()
		if i < 0 {
			return
		}
		used += s.format.Bits(&s.at(q.queue[i].number).Effect)
		if used > most {
			return
		}
		s.chosen = append(s.chosen, uint8(i))
		s.reserved = (used + effect.FillBits) / 8
	}
}

// expire drops the effects that are not told any more: those that are too old, that were told often
// enough, or whose id is about to be used again.
func (s *effects) expire(q *connEffects) {
	kept := 0
	for i := range q.queue { // without a branch: what is too old cannot be predicted
		e := &q.queue[i]
		young := geom.Bit(s.added-e.number <= s.young[e.sends%(maxEffectSends+1)])
		hasID := geom.Bit(e.sends == 0) | geom.Bit(q.id-e.id < effect.IDWindow-maxEffectQueue)
		q.queue[kept] = *e
		kept += young & hasID
	}
	q.queue = q.queue[:kept]
}

// effectOrder is the order in which a client's queued effects are told: those that were told less
// often first, then by rank, then by place. An entry has, from the highest bit, the times told, the
// rank and the place; it is notTold if its effect waits.
type effectOrder struct {
	entries [maxEffectQueue]uint64 // by place
	count   int
}

// notTold is more than the entry of any effect.
const notTold = math.MaxUint64

// order is the order of the effects that may be told in a tick.
func (s *effects) order(q *connEffects, t tick.Tick) (order effectOrder) {
	spacing := uint16(s.life * effect.LifeParts / spacingParts)
	order.count = len(q.queue)
	entries := order.entries[:order.count]
	for i := range entries {
		e := &q.queue[i]
		waits := geom.Bit(e.sends > 0) & geom.Bit(uint16(t)-e.sentIn[0] < spacing)
		entries[i] = uint64(e.sends)<<40 | uint64(e.rank)<<8 | uint64(i) | -uint64(waits)
	}
	return order
}

// next takes the place of the first effect out of the order; -1 for none.
func (o *effectOrder) next() int {
	first := uint64(notTold)
	for _, x := range o.entries[:o.count] {
		first = min(first, x)
	}
	if first == notTold {
		return -1
	}
	place := int(first & 0xff)
	o.entries[place] = notTold
	return place
}

// queueEffects looks at the effects since the client's last snapshot and queues those that concern
// it.
func (r *replication) queueEffects(c *connReplication) {
	s := &r.effects
	q, size := s.queueOf(c), uint32(len(s.log))
	if s.added-q.next > s.young[0] {
		q.next = s.added - s.young[0]
	}
	for q.next != s.added {
		first := q.next % size
		q.next += r.queueStretch(c, q, q.next, s.reach[first:min(first+s.added-q.next, size)])
	}
}

// queueStretch queues those of the effects from a number on that concern a client, and returns how
// many it looked at.
func (r *replication) queueStretch(
	c *connReplication, q *connEffects, number uint32, reach []effectReach,
) (looked uint32) {
	s, slot, player := &r.effects, int(c.viewer.slot), c.viewer.player
	from, most := geom.Vec3{}, float32(math.Inf(1)) // of a free camera
	if slot >= 0 {
		from, most = r.match.Poses()[slot].Pos, effect.Range*effect.Range
	}
	near, count := &s.near, 0
	for i := range reach { // without a branch: which are near cannot be predicted
		p := &reach[i]
		near[count&(maxEffectLog-1)] = uint16(i)
		count += geom.Bit(p.pos.Sub(from).LenSq() <= most) | geom.Bit(p.victim == player)
	}
	for _, i := range near[:count] {
		e := s.at(number + uint32(i))
		if rank, ok := r.effectRank(c, &e.Effect); ok {
			q.add(queuedEffect{number: number + uint32(i), rank: rank})
		}
	}
	return uint32(len(reach))
}

// Ranks: damage before all impacts, and those by the square of their distance, which counts less for
// some. Squares are not negative, so their bits are in the same order.
const (
	damageRank    = 0
	firstImpact   = 1      // rank of an impact at no distance
	bodyFactor    = 1. / 2 // an impact on a player
	opponentShare = 1. / 4 // an impact of an opponent
)

// effectRank is the rank of an effect for a client, and whether the client may be told of it.
// Damage is told to its victim alone. Impacts are told where the client's viewpoint may see their
// place, but not those of its own rounds, which the client predicts, and those on itself.
func (r *replication) effectRank(c *connReplication, e *effect.Effect) (rank uint32, ok bool) {
	if e.Kind == effect.Damage {
		return damageRank, e.Target == c.viewer.player
	}
	slot := int(c.viewer.slot)
	if r.lowDetail() || e.Source == c.viewer.player || e.Target == c.viewer.player {
		return 0, false
	}
	if slot < 0 { // a free camera has no place: what it may see it sees from everywhere
		return firstImpact, r.seesAll(c)
	}
	from := r.match.Poses()[slot].Pos
	square := e.Pos.Sub(from).LenSq()
	if square > effect.Range*effect.Range || !r.seesAll(c) && !r.seesPlace(from, e.Pos.Mad(e.Dir, placeLift)) {
		return 0, false
	}
	if e.Surface == effect.Player {
		square *= bodyFactor
	}
	if c.view.fought(e.Source.Index()) {
		square *= opponentShare
	}
	return firstImpact + math.Float32bits(square), true
}

// placeLift is how far in front of its surface an impact counts as a place, in metres: the surface
// of a wall may lie on the edge of a cell.
const placeLift = 0.125

// seesPlace reports whether a viewpoint may see a place, by the rules for players: the view
// distance, and the cells that walls leave visible.
func (r *replication) seesPlace(from, place geom.Vec3) bool {
	g := r.players.interest.grid
	cfg := g.Config()
	a, b := g.Cell(from.X, from.Z), g.Cell(place.X, place.Z)
	dx, dz := a%cfg.Wide-b%cfg.Wide, a/cfg.Wide-b/cfg.Wide
	if cfg.ViewDistance > 0 && dx*dx+dz*dz > cfg.ViewDistance*cfg.ViewDistance {
		return false
	}
	if r.cfg.PVS != nil {
		return placeVisible(r.cfg.PVS, from, place)
	}
	return r.cfg.CellVisible == nil || r.cfg.CellVisible(a, b)
}

// placeVisible is seesPlace by the table of a map's walls.
func placeVisible(walls *pvs.Table, from, place geom.Vec3) bool {
	a, b := walls.Cell(from.X, from.Z), walls.Cell(place.X, place.Z)
	return walls.VisibleAt(a, walls.Level(a, from.Y), b, walls.Level(b, place.Y))
}

// fought reports whether a player in a slot was in combat with the client lately.
func (v *connView) fought(slot int) bool {
	words := len(v.combat) / 2
	return slot>>6 < words && (v.combat[slot>>6]|v.combat[words+slot>>6])>>(slot&63)&1 != 0
}

// appendEffects writes the chosen effects, and reports whether there is one. The rows of the
// snapshot are selected: players that are hidden from the client are not named, and impacts on them
// are not told.
func (r *replication) appendEffects(dst []byte, c *connReplication) ([]byte, bool) {
	s, t := &r.effects, r.match.Tick()
	q := s.queueOf(c)
	s.items = s.items[:0]
	if len(s.chosen) == 0 {
		return dst, false
	}
	s.sortChosen(q)
	for _, i := range s.chosen {
		k := &q.queue[i]
		e := s.at(k.number)
		item := effect.Item{Effect: e.Effect, SourceSlot: r.slotShown(c, uint32(e.Source)), TargetSlot: -1}
		if e.Kind == effect.Impact && e.Surface == effect.Player {
			if item.TargetSlot = r.slotShown(c, uint32(e.Target)); item.TargetSlot < 0 {
				k.sends = maxEffectSends
				continue
			}
		}
		if k.sends == 0 {
			k.id = q.id
			q.id++
		}
		item.ID, item.Pos = k.id, e.place
		k.tell(t)
		s.items = append(s.items, item)
	}
	if len(s.items) == 0 {
		return dst, false
	}
	return s.format.Append(dst, t, s.items), true
}

// sortChosen puts the chosen effects in the order of their ids, oldest first; those without an id
// get the next ones.
func (s *effects) sortChosen(q *connEffects) {
	age := func(i uint8) int {
		if e := &q.queue[i]; e.sends > 0 {
			return int(q.id - e.id)
		}
		return 0
	}
	for i := 1; i < len(s.chosen); i++ {
		for k := i; k > 0 && age(s.chosen[k]) > age(s.chosen[k-1]); k-- {
			s.chosen[k], s.chosen[k-1] = s.chosen[k-1], s.chosen[k]
		}
	}
}

// slotShown is the slot of a player that the client may see in the snapshot at hand, else -1.
func (r *replication) slotShown(c *connReplication, id uint32) int16 {
	slot := int(id >> 8)
	switch {
	case id == 0 || slot >= r.cfg.Players || r.match.Poses()[slot].ID != id:
		return -1
	case r.seesAll(c), c.view.interest != nil && c.view.interest.Visible()[slot>>6]>>(slot&63)&1 != 0:
		return int16(slot)
	}
	return -1
}

package client

import (
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// Bounds of what is kept.
const (
	maxEffects = 256 // effects
	maxMarks   = 256
)

// Radii of marks without one of their own in the content pack, in metres.
const (
	bulletMark     = 0.05
	explosionShare = 4 // an explosion marks its radius divided by this
)

// Effects is what a picture and the sound of the match present for a moment, with Config.Effects.
// Own shots, launches and punches, and what own rounds strike, are predicted; those of others,
// footsteps and explosions follow from rows; impacts of others and damage are told by the server.
// Each effect comes once. Its Tick says when it happened: play it when the view has come there, or
// at once if it has passed. Its Registered names the row of the content pack that says how it looks
// and sounds.
type Effects struct {
	Marks *effect.Marks // what impacts left on the map

	tracker *effect.Tracker // nil: no effects are kept
	looks   *content.Pack   // how registered effects look; nil: not known
	format  effect.Format
	window  effect.Window
	told    *[effect.MaxItems]effect.Item // of the snapshot at hand; made with the first
	found   []effect.Effect               // scratch
	ring    ringbuf.Ring[effect.Effect]
	stats   EffectStats
}

// EffectStats counts effects.
type EffectStats struct {
	Kinds   [effect.Kinds]uint64 // by kind, each with its Count
	Told    uint64               // by the server, each once
	Repeats uint64               // told again
	Late    uint64               // told too late to be of use
}

// Since copies the effects from number from on into dst, and returns how many those are and the
// number to go on from. Effects are numbered from 0 as they came; the newest 256 are kept.
func (s *Effects) Since(from uint64, dst []effect.Effect) (n int, next uint64) {
	if s.ring.Added() == 0 {
		return 0, from
	}
	for next = s.ring.First(from); next < s.ring.Added() && n < len(dst); next++ {
		dst[n] = *s.ring.At(next)
		n++
	}
	return n, next
}

// Stats returns the counters.
func (s *Effects) Stats() EffectStats { return s.stats }

// start prepares for the match of a client.
func (s *Effects) start(c *Client) {
	slots := int(c.welcome.MaxPlayers)
	s.format = effect.NewFormat(slots, c.arena.Bounds, c.rate)
	if !c.cfg.Effects {
		return
	}
	if pack := c.cfg.Content; pack != nil && pack.Shared() == c.cfg.Rules.Game.Pack {
		s.looks = pack
	}
	s.tracker = effect.NewTracker(c.kit, c.arena, slots, c.ID())
	s.Marks = effect.NewMarks(maxMarks)
}

// reset forgets the match for a change of the map. Effects that were not read stay.
func (s *Effects) reset() {
	*s = Effects{told: s.told, found: s.found[:0], ring: s.ring, stats: s.stats}
}

// parse reads the effects that a snapshot of tick t tells into told.
func (s *Effects) parse(t tick.Tick, src []byte) (n int, rest []byte, err error) {
	if s.told == nil {
		s.told = new([effect.MaxItems]effect.Item)
	}
	return s.format.Parse(t, src, s.told)
}

// add keeps an effect and the mark that it leaves.
func (s *Effects) add(e *effect.Effect) {
	s.stats.Kinds[e.Kind] += uint64(e.Count)
	s.ring.Push(*e)
	m := effect.Mark{Pos: e.Pos, Normal: e.Dir, Radius: bulletMark, Tick: e.Tick}
	switch {
	case e.Kind == effect.Explosion:
		m.Radius, m.Normal = e.Strength/explosionShare, geom.Vec3{Y: 1}
	case e.Kind != effect.Impact || e.Surface != effect.Map:
		return
	}
	if s.looks != nil {
		if row, ok := s.looks.Effect(e.Registered); ok && row.Look.Mark > 0 {
			m.Radius = row.Look.Mark
		}
	}
	s.Marks.Add(m)
}

// takeEffects takes n told effects of the snapshot of tick t, and those that follow from its rows as
// far as they have arrived.
func (c *Client) takeEffects(t tick.Tick, n int) {
	s := &c.Effects
	s.found = s.found[:0]
	if f := c.interp.Decoder.At(t); f != nil {
		var row [netstate.PublicFields]int32
		var p netstate.PlayerState
		for slot := range min(f.Used(), int(c.welcome.MaxPlayers)) {
			if s.tracker.Known(slot, t) || !f.HasRow(slot) {
				continue
			}
			id := f.Row(slot, row[:])
			if id != 0 {
				p.Restore(row[:])
			}
			s.found = s.tracker.Player(s.found, t, slot, id, &p)
		}
	}
	var fields [netstate.ObjectStateFields]int32
	var o netstate.ObjectState
	for slot := range c.Objects.Slots() {
		if id, ok := c.Objects.Row(t, slot, fields[:]); ok {
			if id != 0 {
				o.Restore(fields[:])
			}
			s.found = s.tracker.Object(s.found, t, slot, id, &o)
		}
	}
	for i := range s.found {
		s.add(&s.found[i])
	}
	for i := range n {
		c.takeTold(&s.told[i])
	}
}

// takeTold takes an effect that the server told, unless it was told before or is too old.
func (c *Client) takeTold(e *effect.Item) {
	s := &c.Effects
	if !s.window.Take(e.ID) {
		s.stats.Repeats++
		return
	}
	if e.Tick+effect.Life(c.rate) < c.interp.Newest() {
		s.stats.Late++
		return
	}
	s.stats.Told++
	e.Source, e.Target = c.playerIn(e.SourceSlot), c.playerIn(e.TargetSlot)
	if e.Kind == effect.Damage {
		e.Target, e.Pos = c.ID(), c.replica.self.Motion.Pos
	} else {
		c.complete(e)
	}
	s.add(&e.Effect)
}

// playerIn is the player in a slot as far as the client knows, 0 for none.
func (c *Client) playerIn(slot int16) netid.ID {
	if slot < 0 {
		return 0
	}
	if f := c.interp.Decoder.At(c.interp.Decoder.Newest(int(slot))); f != nil {
		return f.ID(int(slot))
	}
	return 0
}

// complete adds what the server does not tell of an impact: which effect is registered for it, by the
// hero of its source; its place and normal, of the map's surface, or of the bone of a player, turned
// to its source.
func (c *Client) complete(e *effect.Item) {
	source, known := c.newestPlayer(int(e.SourceSlot))
	if e.Registered = c.kit.CommonRoundEffect(); known {
		e.Registered = c.kit.RoundEffect(source.Hero)
	}
	if e.Surface == effect.Map {
		c.Effects.format.Locate(c.arena, &e.Effect)
		return
	}
	if e.Surface == effect.Player {
		p, ok := c.newestPlayer(int(e.TargetSlot))
		if !ok {
			return
		}
		var body rig.Body
		pose := p.Pose(1)
		rig.Capsules(&pose, &body)
		e.Pos = body[e.Bone].A.Add(body[e.Bone].B).Scale(0.5)
	}
	if known {
		e.Dir = sim.Eye(source.Pos).Sub(e.Pos).Normalize()
	}
}

// newestPlayer is the newest row of a player's slot; slot -1 is no player.
func (c *Client) newestPlayer(slot int) (p netstate.PlayerState, ok bool) {
	if slot < 0 {
		return p, false
	}
	f := c.interp.Decoder.At(c.interp.Decoder.Newest(slot))
	if f == nil {
		return p, false
	}
	var row [netstate.PublicFields]int32
	id := f.Row(slot, row[:])
	p.Restore(row[:])
	return p, id != 0
}

// ownAction adds the predicted use of a weapon or a punch.
func (s *Effects) ownAction(c *Client, cmd *sim.Command, a *ability.Action, self *predict.State) {
	ray := c.kit.ShotRay(c.welcome.NetID, self.Hero, self.Motion.Pos, cmd, a)
	e := effect.Effect{Count: 1, Tick: cmd.Tick, Pos: ray.Origin, Dir: ray.Dir, Source: c.ID(),
		Registered: c.kit.SlotEffect(self.Hero, int(a.Slot))}
	switch hero := c.kit.Hero(self.Hero); int(a.Slot) {
	case hero.WeaponSlot(0):
		e.Kind = effect.Shot
	case hero.WeaponSlot(1):
		e.Kind = effect.Launch
	case hero.PunchSlot():
		e.Kind = effect.Punch
	default:
		return
	}
	s.add(&e)
}

// ownImpact adds what a predicted shot strikes: a player, a barrel or a cube, or the map.
func (s *Effects) ownImpact(c *Client, shot *Shot, hero uint8, wall bool) {
	e := effect.Effect{Kind: effect.Impact, Cause: object.CauseShot, Count: 1, Tick: shot.Tick,
		Source: c.ID(), Registered: c.kit.RoundEffect(hero)}
	at, blocked := c.Objects.Obstacle(shot.Ray, shot.Radius)
	switch {
	case shot.Hit != 0 && !(blocked && at <= shot.Distance):
		e.Surface, e.Target, e.Bone = effect.Player, shot.Hit, shot.Bone
		e.Pos, e.Dir = shot.Ray.At(shot.Distance), shot.Normal
	case blocked:
		e.Surface, e.Pos, e.Dir = effect.Object, shot.Ray.At(at), shot.Ray.Dir.Scale(-1)
	case wall:
		e.Pos, e.Dir = effect.Wall(c.arena, shot.Ray, c.moment(shot.Tick))
	default:
		return
	}
	s.add(&e)
}

// hit adds the server's confirmation of a hit of the own player.
func (s *Effects) hit(e *sim.Event, self netid.ID) {
	if s.tracker == nil || e.Kind != sim.EventHit || e.Actor != self {
		return
	}
	s.add(&effect.Effect{Kind: effect.Hit, Count: 1, Tick: e.Tick, Cause: e.Cause, Amount: e.Amount,
		Source: self, Target: e.Victim})
}

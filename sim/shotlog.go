package sim

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// SetShotLog makes the match write a record of each shot and punch into log, from now on; nil ends
// it. Records are not state: they do not change the match.
func (m *Match) SetShotLog(ring *lagcomp.ShotLog) { m.shotLog = ring }

// cast finds what shots hit, with statistics if records are written. It returns the nanoseconds
// that a shot took.
func (c *columns) cast() (notes []lagcomp.CastStats, nanos uint32) {
	s, ring := c.scratch, c.match.shotLog
	if ring == nil {
		c.scene.Cast(s.sweeps, s.hits)
		return nil, 0
	}
	s.castStats = slices.Grow(s.castStats[:0], len(s.sweeps))[:len(s.sweeps)]
	if ring.Clock == nil || len(s.sweeps) == 0 {
		c.scene.CastWithStats(s.sweeps, s.hits, s.castStats)
		return s.castStats, 0
	}
	from := ring.Clock()
	c.scene.CastWithStats(s.sweeps, s.hits, s.castStats)
	return s.castStats, uint32(min(max(ring.Clock()-from, 0)/int64(len(s.sweeps)), 1<<32-1))
}

// judgedShot is what recordShot needs of a shot that was judged.
type judgedShot struct {
	shot    *Shot
	sweep   lagcomp.Sweep // its View is the one that the shot was judged by
	hit     *lagcomp.Hit
	stats   *lagcomp.CastStats
	blocked uint32 // first player on the path that was not visible to the shooter; 0: none
	nanos   uint32
	melee   bool
}

// recordShot writes the record of a shot.
func (c *columns) recordShot(j *judgedShot) {
	r := c.match.shotLog.Next()
	s, w, h, n := j.shot, &j.sweep, j.hit, j.stats
	r.Tick, r.Shooter, r.Claimed, r.Used, r.ClampReason = c.clock.Tick, s.Shooter, s.Claimed, w.View,
		s.ClampReason
	if r.ClampReason != lagcomp.ClampNone && r.Claimed.Valid() && r.Used.Valid() {
		r.Shift = int32(lagcomp.Instant(r.Used) - lagcomp.Instant(r.Claimed))
	}
	r.Ray, r.Radius, r.Melee, r.Nanos = w.Ray, w.Radius, j.melee, j.nanos
	r.Candidates, r.Bounds, r.PosesTested = n.Candidates, n.Bounds, n.Bodies
	slot := n.NearestSlot
	r.Subject, r.Bone, r.Miss, r.Distance = n.NearestID, n.NearestBone, n.Miss, n.Along
	switch history := c.history; {
	case h.ID != 0:
		slot, r.Verdict, r.Subject, r.Bone, r.Miss, r.Distance = int32(h.Slot), lagcomp.HitPlayer, h.ID,
			h.Bone, 0, h.Distance
		r.Point, r.Normal = h.Point, h.Normal
	case j.blocked != 0:
		slot, r.Verdict, r.Subject = int32(netid.ID(j.blocked).Index()), lagcomp.NotVisible, j.blocked
	case !historyHas(history, w.View):
		r.Verdict = lagcomp.NoHistory
	case s.HitObject != 0:
		r.Verdict = lagcomp.HitObject
	case s.HitWall:
		r.Verdict = lagcomp.HitWall
	}
	if r.Subject != 0 {
		c.recordPoses(r, int(slot))
	}
}

// historyHas reports whether history has both ticks of a view.
func historyHas(h *lagcomp.History, v tick.View) bool {
	return v.Valid() && v.From >= h.Oldest() && v.To <= h.Newest()
}

// recordPoses adds the poses of the subject, which is in a slot.
func (c *columns) recordPoses(r *lagcomp.ShotRecord, slot int) {
	var ok bool
	if r.Seen, ok = c.history.At(r.Claimed, slot); ok && r.Seen.ID == r.Subject {
		r.Poses |= lagcomp.PoseSeen
	}
	if r.Rewound, ok = c.history.At(r.Used, slot); ok && r.Rewound.ID == r.Subject {
		r.Poses |= lagcomp.PoseRewound
	}
	if r.Present, ok = c.history.Pose(r.Tick, slot); ok && r.Present.ID == r.Subject {
		r.Poses |= lagcomp.PosePresent
	}
	if r.Verdict == lagcomp.NotVisible {
		if hit, ok := lagcomp.Test(rig.HeroBodies, r.Ray, r.Radius, &r.Rewound); ok {
			r.Bone, r.Distance, r.Point, r.Normal, r.Miss = hit.Bone, hit.Distance, r.Ray.At(hit.Distance),
				hit.Normal, 0
		}
	}
}

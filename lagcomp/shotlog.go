package lagcomp

import (
	"fmt"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// ShotRecord tells how one shot was judged: what its shooter claimed to see, what was believed of it, who was looked at and what came of
// it. It is a value of fixed size that points to nothing, and has all that a picture of the shot needs.
//
// The subject is who was hit or, of a shot that hit nobody, who was missed by least among those whose bounds it touched.
type ShotRecord struct {
	Number      uint64      `json:"number"`     // counts the shots of a match from 1
	Tick        tick.Tick   `json:"tick"`       // in which it was judged
	Shooter     uint32      `json:"shooter"`    // net id
	Subject     uint32      `json:"subject"`    // net id, 0 nobody
	Claimed     tick.View   `json:"claimed"`    // the view that the command named
	Used        tick.View   `json:"used"`       // the view it was judged by
	ClampReason ClampReason `json:"clamp"`      // why these differ
	Verdict     Verdict     `json:"verdict"`    //
	Bone        rig.Bone    `json:"bone"`       // of the subject: hit, or missed by least
	Poses       PoseMask    `json:"held"`       // which of the poses there are
	Melee       bool        `json:"melee"`      //
	Shift       int32       `json:"moved"`      // by how much the clamp moved the view, 1/256 tick; 0 if the claim was no view
	Ray         geom.Ray    `json:"ray"`        // as judged, cut where the map stopped it
	Radius      float32     `json:"radius"`     // of a swept sphere, metres
	Distance    float32     `json:"distance"`   // along the ray to the hit, metres; of a miss, where it passed the subject
	Miss        float32     `json:"miss"`       // metres between the ray and the subject's surface; 0 of a hit
	Point       geom.Vec3   `json:"point"`      // of the hit
	Normal      geom.Vec3   `json:"normal"`     // of the surface there
	Candidates  uint16      `json:"candidates"` // rows that the broad phase named
	Bounds      uint16      `json:"bounds"`     // of them, those whose bound the ray touches
	PosesTested uint16      `json:"bodies"`     // of them, those whose capsules were worked out
	Nanos       uint32      `json:"nanos"`      // of judging, an equal share of the tick's shots; 0 if nobody measured

	Seen    rig.Pose `json:"seen"`    // the subject as the claim shows it
	Rewound rig.Pose `json:"rewound"` // the subject as it was judged
	Present rig.Pose `json:"present"` // the subject at Tick
}

// A ring of 4096 is a megabyte.
var _ [232]byte = [unsafe.Sizeof(ShotRecord{})]byte{}

// PoseMask says which poses of the subject a receipt has.
type PoseMask uint8

// The poses.
const (
	PoseSeen PoseMask = 1 << iota
	PoseRewound
	PosePresent
)

// AddVerdict is what came of a shot.
type Verdict uint8

// The verdicts.
const (
	Missed     Verdict = iota // it reached its end and met nothing
	HitWall                   // by the ground or a wall
	HitObject                 // a barrel or a cube
	HitPlayer                 // Subject
	NotVisible                // it would have hit somebody whom its shooter had not been shown, and nobody else
	NoHistory                 // there is no past to judge it by
	verdicts
)

var verdictNames = [verdicts]string{"miss", "wall", "object", "hit", "unseen", "no-history"}

// String names the verdict.
func (v Verdict) String() string { return nameOf(verdictNames[:], int(v)) }

// MarshalText names the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText takes a name.
func (v *Verdict) UnmarshalText(text []byte) error {
	i, err := numberOf("verdict", verdictNames[:], string(text))
	*v = Verdict(i)
	return err
}

// ClampReason is why a shot was not judged by the view that it claimed: which of the server's limits moved it.
type ClampReason uint8

// The reasons. Of several limits on the past the tightest is named.
const (
	ClampNone         ClampReason = iota // it was
	ClampNothingSent                     // nothing had been sent to its shooter
	ClampNoView                          // the claim is no view
	ClampAhead                           // newer than the newest snapshot sent
	ClampSpan                            // of ticks that nobody showed it, or further apart than the cap
	ClampRTT                             // older than the path and the interpolation explain
	ClampAcks                            // older than snapshots that it says it has
	ClampCap                             // older than the victims' side allows
	ClampHistory                         // older than history
	ClampBackwards                       // older than its shooter's last shot
	ClampNotAnnounced                    // not what was pledged before
	ClampStalled                         // what was pledged had not come to its shooter, whose picture stood still
	ClampPath                            // what was pledged is further back than the path explains
	clampReasons
)

var clampNames = [clampReasons]string{"none", "nothing-sent", "no-view", "ahead", "span", "rtt", "acks", "cap", "history", "backwards", "not-pledged", "standing", "path"}

// String names the reason.
func (c ClampReason) String() string { return nameOf(clampNames[:], int(c)) }

// MarshalText names the reason.
func (c ClampReason) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText takes a name.
func (c *ClampReason) UnmarshalText(text []byte) error {
	i, err := numberOf("clamp", clampNames[:], string(text))
	*c = ClampReason(i)
	return err
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return names[0] + "?"
}

func numberOf(what string, names []string, name string) (int, error) {
	for i := range names {
		if names[i] == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %.20q: expected one of %v", what, name, names)
}

// ClampReasonOf names the limit by which ClampView made used of the claim v, with the same arguments.
func ClampReasonOf(v, used tick.View, now tick.Tick, know ClampLimits) ClampReason {
	switch {
	case used == v:
		return ClampNone
	case know.Newest == 0:
		return ClampNothingSent
	case !v.Valid():
		return ClampNoView
	case know.AnnouncedInstant != 0:
		return know.withDefaults().announcedReason(v, used, now)
	case Instant(used) == Instant(v):
		return ClampSpan
	case Instant(used) < Instant(v):
		return ClampAhead
	}
	know = know.withDefaults()
	lag := fixed(know.InterpTicks) + fixed(know.SlackTicks)
	why, most := ClampHistory, int64(know.Oldest)<<8
	for _, l := range [...]struct {
		why ClampReason
		at  int64
	}{
		{ClampBackwards, know.LastInstant - 1<<8},
		{ClampCap, int64(now)<<8 - int64(know.CapTicks)<<8},
		{ClampAcks, int64(know.NewestAcked)<<8 - lag},
		{ClampRTT, int64(now)<<8 - fixed(know.RTTTicks) - lag},
	} {
		if l.at > most {
			why, most = l.why, l.at
		}
	}
	return why
}

// announcedReason is ClampReasonOf of a peer that pledges.
func (k ClampLimits) announcedReason(v, used tick.View, now tick.Tick) ClampReason {
	at := Instant(v)
	own := at <= k.UnclampedInstant && at > k.UnclampedInstant-max(int64(v.To-v.From), 1) // the claim keeps to what was pledged
	switch {
	case v.From == v.To && at < k.UnclampedInstant && (k.To == 0 || k.To <= v.To):
		return ClampStalled
	case !own:
		return ClampNotAnnounced
	case k.AnnouncedInstant > int64(k.Newest)<<8:
		return ClampAhead
	case k.AnnouncedInstant != k.UnclampedInstant && int64(now)<<8-k.AnnouncedInstant > int64(k.CapTicks)<<8-ViewDelayUnit && k.AnnouncedInstant >= k.earliestByCap(now):
		return ClampCap
	case k.AnnouncedInstant != k.UnclampedInstant && k.AnnouncedInstant >= k.earliestByCap(now):
		return ClampPath
	case k.AnnouncedInstant >= k.earliestByCap(now):
		return ClampSpan
	}
	why, most := ClampHistory, int64(k.Oldest)<<8
	if l := int64(now)<<8 - int64(k.CapTicks)<<8; l > most {
		why, most = ClampCap, l
	}
	if k.LastInstant-1<<8 > most {
		why = ClampBackwards
	}
	return why
}

// ShotLog is a ring of the last receipts. One owner writes and reads it.
type ShotLog struct {
	Clock func() int64 // nanoseconds of anything that runs on, to measure batches by; nil: nobody measures

	ring  []ShotRecord
	count uint64
}

// NewShotLog makes a ring of n receipts, 232 bytes each, all of its memory.
func NewShotLog(n int) *ShotLog { return &ShotLog{ring: make([]ShotRecord, max(n, 1))} }

// Next is where the next receipt is to be written, numbered and otherwise empty.
func (r *ShotLog) Next() *ShotRecord {
	at := &r.ring[r.count%uint64(len(r.ring))]
	r.count++
	*at = ShotRecord{Number: r.count}
	return at
}

// Count is how many receipts there have been.
func (r *ShotLog) Count() uint64 { return r.count }

// Since appends to out what the ring still has behind a number, oldest first, but no more than the newest most; 0 is no such limit.
func (r *ShotLog) Since(number uint64, most int, out []ShotRecord) []ShotRecord {
	first := max(number, r.count-min(r.count, uint64(len(r.ring))))
	if most > 0 && r.count > uint64(most) {
		first = max(first, r.count-uint64(most))
	}
	for n := first; n < r.count; n++ {
		out = append(out, r.ring[n%uint64(len(r.ring))])
	}
	return out
}

package lagcomp

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// ShotRecord is how one shot was judged: what its shooter claimed to see, which view was used,
// which players were tested and the outcome. It is a value of fixed size without pointers, and
// holds everything that a picture of the shot needs.
//
// The subject is the player that was hit or, of a miss, the player that was missed by the least
// among those whose bounds it touched.
type ShotRecord struct {
	Number      uint64      `json:"number"`  // counts the shots of a match from 1
	Tick        tick.Tick   `json:"tick"`    // in which it was judged
	Shooter     uint32      `json:"shooter"` // net id
	Subject     uint32      `json:"subject"` // net id, 0: none
	Claimed     tick.View   `json:"claimed"` // the view that the command named
	Used        tick.View   `json:"used"`    // the view it was judged by
	ClampReason ClampReason `json:"clamp"`   // why these differ
	Verdict     Verdict     `json:"verdict"` //
	Bone        rig.Bone    `json:"bone"`    // of the subject: hit, or missed by least
	Poses       PoseMask    `json:"poses"`   // which of the poses there are
	Melee       bool        `json:"melee"`   //
	// by how much the clamp moved the view, 1/256 tick; 0 if the claim was no view
	Shift  int32    `json:"shift"`
	Ray    geom.Ray `json:"ray"`    // as judged, cut where the map stopped it
	Radius float32  `json:"radius"` // of a swept sphere, metres
	// along the ray to the hit, metres; of a miss, where it passed the subject
	Distance float32 `json:"distance"`
	// metres between the ray and the subject's surface; 0 of a hit
	Miss        float32   `json:"miss"`
	Point       geom.Vec3 `json:"point"`      // of the hit
	Normal      geom.Vec3 `json:"normal"`     // of the surface there
	Candidates  uint16    `json:"candidates"` // rows that the broad phase named
	Bounds      uint16    `json:"bounds"`     // of them, those whose bound the ray touches
	PosesTested uint16    `json:"bodies"`     // of them, those whose capsules were tested
	// time of judging, an equal share of the tick's shots; 0 if not measured
	Nanos uint32 `json:"nanos"`

	Seen    rig.Pose `json:"seen"`    // the subject as the claim shows it
	Rewound rig.Pose `json:"rewound"` // the subject as it was judged
	Present rig.Pose `json:"present"` // the subject at Tick
}

// A ring of 4096 is a megabyte.
var _ [232]byte = [unsafe.Sizeof(ShotRecord{})]byte{}

// PoseMask says which poses of the subject a record has.
type PoseMask uint8

// The poses.
const (
	PoseSeen PoseMask = 1 << iota
	PoseRewound
	PosePresent
)

// Verdict is the outcome of a shot.
type Verdict uint8

// The verdicts.
const (
	Missed    Verdict = iota // it reached its end and hit nothing
	HitWall                  // the ground or a wall
	HitObject                // a barrel or a cube
	HitPlayer                // Subject
	// it would have hit a player that its shooter had not been shown, and nothing else
	NotVisible
	NoHistory // there is no history to judge it by
	verdicts
)

var verdictNames = [verdicts]string{"miss", "wall", "object", "hit", "unseen", "no-history"}

// VerdictNames lists the names of all verdicts.
func VerdictNames() []string { return slices.Clone(verdictNames[:]) }

// String names the verdict.
func (v Verdict) String() string { return nameOf(verdictNames[:], int(v)) }

// MarshalText names the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText parses a name.
func (v *Verdict) UnmarshalText(text []byte) error {
	i, err := numberOf("verdict", verdictNames[:], string(text))
	*v = Verdict(i)
	return err
}

// ClampReason is why a shot was not judged by the view that it claimed: the limit that moved it.
type ClampReason uint8

// The reasons. Of several limits on the past the tightest counts.
const (
	ClampNone         ClampReason = iota // the claim was used
	ClampNothingSent                     // no snapshot had been sent to its shooter
	ClampNoView                          // the claim is not a valid view
	ClampAhead                           // newer than the newest snapshot sent
	ClampSpan                            // ticks not sent to it, or further apart than the cap
	ClampRTT                             // older than network path plus interpolation
	ClampAcks                            // older than snapshots that it has acknowledged
	ClampCap                             // older than victims must accept
	ClampHistory                         // older than history
	ClampBackwards                       // older than its shooter's last shot
	ClampNotAnnounced                    // not at the announced delay
	// the announced instant had not reached the client, whose picture stood still
	ClampStalled
	ClampPath // the announced delay is longer than the network path explains
	clampReasons
)

var clampNames = [clampReasons]string{"none", "nothing-sent", "no-view", "ahead", "span", "rtt", "acks",
	"cap", "history", "backwards", "not-announced", "stalled", "path"}

// ClampNames lists the names of all reasons, that of no clamp first.
func ClampNames() []string { return slices.Clone(clampNames[:]) }

// String names the reason.
func (c ClampReason) String() string { return nameOf(clampNames[:], int(c)) }

// MarshalText names the reason.
func (c ClampReason) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses a name.
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

// ClampReasonOf names the limit by which ClampView made used of the claim v, with the same
// arguments.
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

// announcedReason is ClampReasonOf for a client that announces its view delay.
func (k ClampLimits) announcedReason(v, used tick.View, now tick.Tick) ClampReason {
	at := Instant(v)
	// the claim keeps to the announced delay
	own := at <= k.UnclampedInstant && at > k.UnclampedInstant-max(int64(v.To-v.From), 1)
	switch {
	case v.From == v.To && at < k.UnclampedInstant && (k.To == 0 || k.To <= v.To):
		return ClampStalled
	case !own:
		return ClampNotAnnounced
	case k.AnnouncedInstant > int64(k.Newest)<<8:
		return ClampAhead
	case k.AnnouncedInstant != k.UnclampedInstant &&
		int64(now)<<8-k.AnnouncedInstant > int64(k.CapTicks)<<8-ViewDelayUnit &&
		k.AnnouncedInstant >= k.earliestByCap(now):
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

// ShotLog is a ring of the newest shot records. One owner writes and reads it.
type ShotLog struct {
	Clock func() int64 // a monotonic clock in nanoseconds, to measure batches by; nil: not measured

	ring ringbuf.Ring[ShotRecord]
}

// NewShotLog makes a ring of n records, 232 bytes each, all of its memory.
func NewShotLog(n int) *ShotLog {
	r := &ShotLog{ring: ringbuf.New[ShotRecord](n)}
	r.ring.Alloc()
	return r
}

// Next returns the record to be written next, numbered and otherwise empty.
func (r *ShotLog) Next() *ShotRecord {
	at := r.ring.Next()
	*at = ShotRecord{Number: r.ring.Added()}
	return at
}

// Count is the number of records written so far.
func (r *ShotLog) Count() uint64 { return r.ring.Added() }

// Since appends to out the records after a number that are still held, oldest first, at most the
// newest most; 0 is no such limit.
func (r *ShotLog) Since(number uint64, most int, out []ShotRecord) []ShotRecord {
	if most > 0 && r.Count() > uint64(most) {
		number = max(number, r.Count()-uint64(most))
	}
	return r.ring.Since(number, out)
}

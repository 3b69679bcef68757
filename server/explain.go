package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Reason is the result for an entity in the newest snapshot to a client: sent, or why not. An
// entity that does not change is still sent, in a bit or two.
type Reason uint8

// The reasons. ReasonStale, ReasonUnchanged and ReasonNoSlot are of objects alone. From
// ReasonNoClient on there is no snapshot to look at.
const (
	ReasonSent             Reason = iota
	ReasonRange                   // beyond Config.ViewDistance
	ReasonOccluded                // hidden by walls or Config.CellVisible
	ReasonClipped                 // the client's bandwidth carries fewer rows
	ReasonBudget                  // the snapshot was full; the entity waits and gains priority
	ReasonJoining                 // likewise in the join burst
	ReasonTurn                    // large lobby, large team or byte limit: others are nearer, not its turn
	ReasonLowDetail               // overload: others are nearer, and it was not the entity's turn
	ReasonFreeCamera              // the client is a free-camera spectator
	ReasonViewpointChanged        // the client spectates another player since that snapshot
	ReasonNew                     // the entity is newer than the snapshot
	ReasonSpectator               // the entity is a spectator, which no client is sent
	ReasonStale                   // an object: sent as it was when its kind was last due
	ReasonUnchanged               // an object: the client holds it as it is, or was just sent it
	ReasonNoSlot                  // an object: all slots for flights are taken
	ReasonNoEntity                // no such entity
	ReasonNoClient                // no such client, or a player without one
	ReasonTimedOut                // the client's session timed out
	ReasonLoading                 // the client is not ready
	ReasonNoSnapshot              // the client was sent no snapshot yet, or none since a resync
	NumReasons                    // number of reasons
)

var reasonTexts = [NumReasons]struct{ name, text string }{
	ReasonSent:             {"sent", "it was sent"},
	ReasonRange:            {"range", "out of range"},
	ReasonOccluded:         {"occluded", "hidden by walls"},
	ReasonClipped:          {"clipped", "the client's bandwidth carries fewer rows, and others are nearer"},
	ReasonBudget:           {"budget", "the byte budget was spent on entities of higher priority"},
	ReasonJoining:          {"joining", "entities of higher priority took the bytes of the join burst"},
	ReasonTurn:             {"turn", "its turn is not now: it is far, out of sight or an object, and waits for a later snapshot"},
	ReasonLowDetail:        {"low_detail", "the lobby is overloaded, and it was not its turn"},
	ReasonFreeCamera:       {"free_camera", "the client is a free-camera spectator"},
	ReasonViewpointChanged: {"viewpoint_changed", "the client spectates another player since then"},
	ReasonNew:              {"new", "it is newer than the client's newest snapshot"},
	ReasonSpectator:        {"spectator", "it is a spectator, which no client is sent"},
	ReasonStale:            {"stale", "it was sent as it was when its kind was last due"},
	ReasonUnchanged:        {"unchanged", "the client holds it as it is, or was just sent it"},
	ReasonNoSlot:           {"no_slot", "all slots for flights are taken: it waits for one"},
	ReasonNoEntity:         {"no_entity", "there is no such entity"},
	ReasonNoClient:         {"no_client", "there is no such client"},
	ReasonTimedOut:         {"timed_out", "the client's session timed out"},
	ReasonLoading:          {"loading", "the client is not ready"},
	ReasonNoSnapshot:       {"no_snapshot", "the client was sent no snapshot since it joined or resynced"},
}

// String names the reason in one word.
func (r Reason) String() string { return reasonTexts[r].name }

// Text is the reason for people.
func (r Reason) Text() string { return reasonTexts[r].text }

// MarshalText is String.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (r *Reason) UnmarshalText(text []byte) error {
	for i := range reasonTexts {
		if reasonTexts[i].name == string(text) {
			*r = Reason(i)
			return nil
		}
	}
	return fmt.Errorf("reason %q: expected one of sent to no_snapshot", text)
}

// DelayReason says why a snapshot that is due has not been sent.
type DelayReason uint8

// The reasons. Each has a counter in metrics, too.
const (
	DelayNone       DelayReason = iota // none is due
	DelayAckStalled                    // the client's packets do not arrive
	DelayUnacked                       // the client acknowledges no snapshot
	DelayThrottled                     // the client's bucket is empty
)

// String names the reason in one word.
func (d DelayReason) String() string {
	return [...]string{"", "ack_stalled", "unacked", "throttled"}[d]
}

// MarshalText is String.
func (d DelayReason) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (d *DelayReason) UnmarshalText(text []byte) error {
	for i := DelayNone; i <= DelayThrottled; i++ {
		if i.String() == string(text) {
			*d = i
			return nil
		}
	}
	return fmt.Errorf("delay %q: expected ack_stalled, unacked, throttled or nothing", text)
}

// Explanation says why a client was, or was not, sent an entity in its newest snapshot.
type Explanation struct {
	Client uint32 `json:"client"`           // net id
	Entity uint32 `json:"entity,omitempty"` // net id; 0 for static objects
	Object string `json:"object,omitempty"` // an ObjectRef; "" for players
	Slot   int    `json:"slot"`             // of its row, -1 for none
	Reason Reason `json:"reason"`
	Text   string `json:"text"` // of Reason

	// The snapshot.
	Tick     uint32      `json:"tick"` // 0: there is none
	Age      uint32      `json:"age_ticks"`
	Interval uint32      `json:"interval_ticks"`  // from one snapshot of the client to the next
	Delay    DelayReason `json:"delay,omitempty"` // why the snapshot after it is late
	Acked    uint32      `json:"acked"`           // newest acknowledged snapshot with the entity

	// Where not all rows fit: what the entity has gained since it was sent, the least priority of
	// the snapshot, the intervals that it has waited, and those after which it goes first.
	Priority  int `json:"priority,omitempty"`
	Threshold int `json:"threshold,omitempty"`
	Waited    int `json:"waited,omitempty"`
	MaxWait   int `json:"max_wait,omitempty"`

	Metres int    `json:"metres,omitempty"`      // level distance; -1: free camera
	Stale  uint32 `json:"stale_ticks,omitempty"` // age of an object's row within the snapshot
}

// Name is what the explanation is about: a net id, or an ObjectRef.
func (e *Explanation) Name() string {
	if e.Object != "" {
		return e.Object
	}
	return strconv.FormatUint(uint64(e.Entity), 10)
}

// Sentence is the explanation for people.
func (e *Explanation) Sentence() string {
	if e.Object == "" && e.Entity == 0 { // about the client
		return fmt.Sprintf("client %d: %s: %s", e.Client, e.Reason, e.Text)
	}
	s := fmt.Sprintf("client %d, entity %s: %s: %s", e.Client, e.Name(), e.Reason, e.Text)
	if e.Tick == 0 {
		return s
	}
	s += fmt.Sprintf("; snapshot of tick %d, %d ticks ago", e.Tick, e.Age)
	if e.Acked != 0 {
		s += fmt.Sprintf(", last acknowledged with it in tick %d", e.Acked)
	}
	if e.Stale != 0 {
		s += fmt.Sprintf(", row %d ticks older", e.Stale)
	}
	if e.Metres >= 0 {
		s += fmt.Sprintf("; %d m away", e.Metres)
	}
	if e.Reason == ReasonBudget || e.Reason == ReasonJoining {
		s += fmt.Sprintf(", priority %d of %d", e.Priority, e.Threshold)
	}
	if e.MaxWait != 0 {
		s += fmt.Sprintf(", waits for %d of at most %d intervals", e.Waited, e.MaxWait)
	}
	if e.Delay != DelayNone {
		s += fmt.Sprintf("; the next snapshot is late: %s", e.Delay)
	}
	return s
}

// because sets the reason.
func (e Explanation) because(r Reason) Explanation {
	e.Reason, e.Text = r, r.Text()
	return e
}

// ObjectRef names an object: a flight by its net id in the match, a static object by its kind and
// place in the map's list.
type ObjectRef struct {
	Kind netstate.Kind
	N    uint32 // net id of a flight; number of a static object, from 0
}

// String is what ParseObjectRef reads: barrel:3, projectile:1114112.
func (r ObjectRef) String() string { return fmt.Sprintf("%v:%d", r.Kind, r.N) }

// ParseObjectRef is the reverse of String.
func ParseObjectRef(s string) (r ObjectRef, err error) {
	name, number, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(number, 10, 32)
	for k := netstate.Kind(1); ok && err == nil && k < netstate.Kinds; k++ {
		if k.Known() && k.String() == name {
			return ObjectRef{k, uint32(n)}, nil
		}
	}
	return r, fmt.Errorf("object %q: expected a kind and a number, as barrel:3; "+
		"kinds are projectile, grenade, barrel, cube, teleporter and zone", s)
}

// Explain says what became of an entity in the newest snapshot to a client, both by net id. Call it
// between ticks.
func (l *Lobby) Explain(client, entity netid.ID) Explanation {
	if ref, ok := objectRefOf(entity); ok {
		return l.ExplainObject(client, ref)
	}
	e := Explanation{Client: uint32(client), Entity: uint32(entity), Slot: -1}
	c, why := l.clientToExplain(client)
	if why != ReasonSent {
		return e.because(why)
	}
	return l.replication.explainPlayer(c, e)
}

// ExplainObject is Explain for objects, including static ones, which have no net id. Call it
// between ticks.
func (l *Lobby) ExplainObject(client netid.ID, ref ObjectRef) Explanation {
	return l.explainObject(&l.replication, client, ref, l.replication.objects.table.slotOf(ref))
}

// explainObject explains the object in a slot, -1 for none.
func (k *core) explainObject(r *replication, client netid.ID, ref ObjectRef, slot int) Explanation {
	e := Explanation{Client: uint32(client), Object: ref.String(), Slot: -1}
	if ref.Kind.Flies() {
		e.Entity = ref.N
	}
	c, why := k.clientToExplain(client)
	if why != ReasonSent {
		return e.because(why)
	}
	return r.explainObject(c, ref, slot, e)
}

// ExplainAll appends the explanations of all players and objects for one client to dst; a single
// one if the client gets no snapshots. Call it between ticks.
func (l *Lobby) ExplainAll(dst []Explanation, client netid.ID) []Explanation {
	if _, why := l.clientToExplain(client); why != ReasonSent {
		return append(dst, Explanation{Client: uint32(client), Slot: -1}.because(why))
	}
	for slot := range l.conns {
		if id := l.match.World.At(slot); id != 0 && l.match.Vital(id) != nil {
			dst = append(dst, l.Explain(client, id))
		}
	}
	l.replication.objects.table.each(func(slot int, ref ObjectRef) {
		dst = append(dst, l.explainObject(&l.replication, client, ref, slot))
	})
	return dst
}

// clientToExplain returns the state of a client that gets snapshots, with ReasonSent; else why it
// gets none.
func (k *core) clientToExplain(client netid.ID) (*connReplication, Reason) {
	slot := client.Index()
	if client == 0 || slot >= len(k.conns) || k.conns[slot].id != client || k.match.Vital(client) == nil {
		return nil, ReasonNoClient
	}
	for _, s := range k.reconnectable {
		if int(s) == slot {
			return nil, ReasonTimedOut
		}
	}
	c := &k.conns[slot]
	if !c.session.ready {
		return nil, ReasonLoading
	}
	c.repl.viewer = c.viewer()
	return &c.repl, ReasonSent
}

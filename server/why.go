package server

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Reason says what became of an entity in the newest snapshot to a client: told, or why not. That nothing about it has changed is no
// reason: an entity in sight that stays as it was is told to be so, in a bit or two.
type Reason uint8

// The reasonNames. ReasonStale to ReasonNoSlot are of things alone. The last four are of the client: then there is no snapshot to look at.
const (
	ReasonSent             Reason = iota
	ReasonRange                   // it is farther than Config.ViewDistance
	ReasonOccluded                // walls, or Config.Visible, hide it, and it was not seen a moment ago
	ReasonClipped                 // the client's line cannot carry so many, and others are nearer
	ReasonBudget                  // others mattered more, and the snapshot was full: it waits, and gains weight
	ReasonJoining                 // likewise in a snapshot to somebody who comes in
	ReasonLowDetail               // the lobby sheds detail: others are nearer, and it was not its turn
	ReasonFreeCamera              // the client looks on through nobody's eyes
	ReasonViewpointChanged        // the client looks on, and through other eyes than in that snapshot
	ReasonNew                     // it came in after the client's newest snapshot
	ReasonSpectator               // it looks on: nobody is told of spectators
	ReasonStale                   // a thing: told, but as it was when its class was due last
	ReasonUnchanged               // a thing: nothing of what the client holds of things has changed, and that takes no bit
	ReasonNoSlot                  // a thing: more flies than the lobby has slots for
	ReasonNoEntity                // there is no such entity
	ReasonNoClient                // there is no such client, or nobody plays by it
	ReasonTimedOut                // its session timed out
	ReasonLoading                 // it has not said that it is ready
	ReasonNoSnapshot              // it was sent no snapshot yet, or must begin anew and was sent none since
	NumReasons                    // how many there are
)

var reasonNames = [NumReasons]struct{ name, text string }{
	ReasonSent:             {"told", "it was told"},
	ReasonRange:            {"range", "out of range"},
	ReasonOccluded:         {"sight", "not in sight: walls hide it"},
	ReasonClipped:          {"line", "the client's line cannot carry all who are in sight, and others are nearer"},
	ReasonBudget:           {"budget", "others mattered more, and the byte budget was spent"},
	ReasonJoining:          {"joining", "the client comes in, and others mattered more within the bytes for newcomers"},
	ReasonLowDetail:        {"detail", "the lobby is overloaded and sheds detail: others are nearer, and it was not its turn"},
	ReasonFreeCamera:       {"target", "the client looks on, and through nobody's eyes"},
	ReasonViewpointChanged: {"turned", "the client looks on, and turned to other eyes since its newest snapshot"},
	ReasonNew:              {"new", "it came in after the client's newest snapshot"},
	ReasonSpectator:        {"spectator", "it looks on: nobody is told of spectators"},
	ReasonStale:            {"pace", "it was told as it was when its class was due last, as it is not told in each snapshot"},
	ReasonUnchanged:        {"kept", "the client holds it as it is: nothing of the things has changed, which takes no bit"},
	ReasonNoSlot:           {"slot", "more flies than the lobby has slots to tell of: it waits for one"},
	ReasonNoEntity:         {"nobody", "there is no such entity"},
	ReasonNoClient:         {"no_client", "there is no such client"},
	ReasonTimedOut:         {"away", "the client's session timed out"},
	ReasonLoading:          {"loading", "the client is not ready"},
	ReasonNoSnapshot:       {"none", "the client was sent no snapshot since it began, or began anew"},
}

// String names the reason in one word.
func (w Reason) String() string { return reasonNames[w].name }

// Text is the reason as a person would say it.
func (w Reason) Text() string { return reasonNames[w].text }

// MarshalText is String.
func (w Reason) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (w *Reason) UnmarshalText(text []byte) error {
	for i := range reasonNames {
		if reasonNames[i].name == string(text) {
			*w = Reason(i)
			return nil
		}
	}
	return fmt.Errorf("reason %q: expected one of told to none", text)
}

// Delay says why no snapshot came that was due.
type DelayReason uint8

// The reasonNames, each of which has a counter, too.
const (
	DelayNone       DelayReason = iota // one came, or none was due
	DelayAckStalled                    // the client is not heard
	DelayUnacked                       // it acknowledges nothing of what has to be sent in full
	DelayThrottled                     // its bucket is empty
)

// String names the reason in one word.
func (h DelayReason) String() string { return [...]string{"", "choked", "starved", "throttled"}[h] }

// MarshalText is String.
func (h DelayReason) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (h *DelayReason) UnmarshalText(text []byte) error {
	for i := DelayNone; i <= DelayThrottled; i++ {
		if i.String() == string(text) {
			*h = i
			return nil
		}
	}
	return fmt.Errorf("held %q: expected choked, starved, throttled or nothing", text)
}

// rowSelection is how the rows of a snapshot were chosen.
type rowSelection uint8

const (
	rowsAll       rowSelection = iota // all, in blocks
	rowsVisible                       // all that it sees
	rowsScheduled                     // what the line carries
	rowsJoining                       // what fits into the bytes for newcomers
	rowsLowDetail                     // the nearest of what it sees, and others in turn
)

// Explanation answers why a client is not told of an entity.
type Explanation struct {
	Client    uint32      `json:"client"`           // net ids
	Entity    uint32      `json:"entity,omitempty"` // 0: of what stands about
	Object    string      `json:"thing,omitempty"`  // a ObjectRef, "" of players
	Slot      int         `json:"slot"`             // of its row in snapshots, -1 for none
	Reason    Reason      `json:"why"`
	Text      string      `json:"text"`                  // of Reason
	Tick      uint32      `json:"tick"`                  // of the client's newest snapshot; 0 for none
	Age       uint32      `json:"age_ticks"`             // of that
	Interval  uint32      `json:"interval_ticks"`        // from one snapshot of the client to the next
	Delay     DelayReason `json:"held,omitempty"`        // why none came that was due since
	Acked     uint32      `json:"acked"`                 // newest snapshot known to have arrived that showed the entity; 0 for none of late
	Priority  int         `json:"weight,omitempty"`      // that the entity has gained since it was last told, where snapshots have no room for all
	Threshold int         `json:"floor,omitempty"`       // that it took to be in the newest one; 0: all fit
	Metres    int         `json:"metres,omitempty"`      // from the client's player or whom it looks through, level, in that snapshot; -1: it looks on through nobody's eyes
	Waited    int         `json:"waited,omitempty"`      // send intervals since the entity was told or came in sight, where the line does not carry all
	Stale     uint32      `json:"stale_ticks,omitempty"` // of a thing that was told as it was: so many ticks before that snapshot
	MaxWait   int         `json:"patience,omitempty"`    // of such intervals, after which it goes before all others
}

// Explain says what became of an entity in the newest snapshot to a client, both by net id. ExplainThing says so of what stands about,
// which has none. Call it between ticks.
func (l *Lobby) Explain(client, entity netid.ID) Explanation {
	if r, ok := refOf(entity); ok {
		return l.ExplainObject(client, r)
	}
	v := Explanation{Client: uint32(client), Entity: uint32(entity), Slot: -1}
	c, why := l.whose(client)
	if v.Reason = why; why != ReasonSent {
		v.Text = v.Reason.Text()
		return v
	}
	f := l.replication.players.frames.At(c.repl.pacing.sent)
	l.snapshotOf(&v, c)
	slot := entity.Index()
	switch {
	case entity == 0 || slot >= len(l.conns):
		v.Reason = ReasonNoEntity
	case c.repl.pacing.sent == 0 || f == nil:
		v.Reason = ReasonNoSnapshot
	case f.ID(slot) != entity && l.match.Vital(entity) != nil:
		if v.Reason = ReasonNew; l.match.Vital(entity).Spectator {
			v.Reason = ReasonSpectator
		}
	case f.ID(slot) != entity:
		v.Reason = ReasonNoEntity
	default:
		v.Slot, v.Reason = slot, l.why(c, f, slot)
		l.detail(&v, c, f, slot)
	}
	v.Text = v.Reason.Text()
	return v
}

// snapshotOf adds which snapshot a verdict is about.
func (l *Lobby) snapshotOf(v *Explanation, c *conn) {
	v.Tick, v.Age, v.Interval, v.Delay = uint32(c.repl.pacing.sent), uint32(l.match.Tick()-c.repl.pacing.sent), uint32(c.repl.pacing.spacing), c.repl.pacing.delayed
}

// Name is what a verdict is about: a net id, or a thing.
func (v *Explanation) Name() string {
	if v.Object != "" {
		return v.Object
	}
	return strconv.FormatUint(uint64(v.Entity), 10)
}

// Sentence is the verdict for people.
func (v *Explanation) Sentence() string {
	s := fmt.Sprintf("client %d, entity %s: %s: %s", v.Client, v.Name(), v.Reason, v.Text)
	if v.Object == "" && v.Entity == 0 { // about nothing, as there is nothing to say of anything
		s = fmt.Sprintf("client %d: %s: %s", v.Client, v.Reason, v.Text)
	}
	if v.Tick == 0 {
		return s
	}
	s += fmt.Sprintf("; by the snapshot of tick %d, %d ticks ago", v.Tick, v.Age)
	if v.Acked != 0 {
		s += fmt.Sprintf(", shown and acknowledged in tick %d", v.Acked)
	}
	if v.Stale != 0 {
		s += fmt.Sprintf(", as it was %d ticks before", v.Stale)
	}
	if v.Metres >= 0 {
		s += fmt.Sprintf("; %d m away", v.Metres)
	}
	if v.Reason == ReasonBudget || v.Reason == ReasonJoining {
		s += fmt.Sprintf(", weighs %d, and %d was needed", v.Priority, v.Threshold)
	}
	if v.MaxWait != 0 {
		s += fmt.Sprintf(", waits for %d of at most %d intervals until it goes first", v.Waited, v.MaxWait)
	}
	if v.Delay != DelayNone {
		s += fmt.Sprintf("; the next snapshot is held back: %s", v.Delay)
	}
	return s
}

// whose finds the connection of a client that gets snapshots; of others it says why there are none.
func (l *Lobby) whose(client netid.ID) (*conn, Reason) {
	slot := client.Index()
	if client == 0 || slot >= len(l.conns) || l.conns[slot].id != client || l.match.Vital(client) == nil {
		return nil, ReasonNoClient
	}
	c := &l.conns[slot]
	for _, s := range l.reconnectable {
		if int(s) == slot {
			return nil, ReasonTimedOut
		}
	}
	if !c.session.ready {
		return nil, ReasonLoading
	}
	return c, ReasonSent
}

// why is what became of the row of a slot in a connection's newest snapshot, of frame f, where somebody is in it.
func (l *Lobby) why(c *conn, f *snapshot.Frame, slot int) Reason {
	said, known := c.repl.acks.tracker.Said(slot)
	switch {
	case !known:
		return ReasonNoSnapshot
	case said:
		return ReasonSent
	case c.repl.view.viewpoint < 0 && (c.repl.view.selection != rowsScheduled || c.repl.schedule.visible[slot>>6]>>(slot&63)&1 == 0):
		return ReasonFreeCamera
	case int(c.repl.view.viewpoint) != c.viewpoint(): // what it saw through the others is forgotten
		return ReasonViewpointChanged
	case c.repl.view.interest.Visible()[slot>>6]>>(slot&63)&1 == 0:
		if l.beyond(f, int(c.repl.view.viewpoint), slot) {
			return ReasonRange
		}
		return ReasonOccluded
	case c.repl.view.selection == rowsScheduled && c.repl.schedule.visible[slot>>6]>>(slot&63)&1 == 0:
		return ReasonClipped
	case c.repl.view.selection == rowsJoining:
		return ReasonJoining
	case c.repl.view.selection == rowsLowDetail:
		return ReasonLowDetail
	}
	return ReasonBudget
}

// beyond reports whether two rows of a frame are out of range of each other.
func (l *Lobby) beyond(f *snapshot.Frame, a, b int) bool {
	ax, az := at(f, a)
	bx, bz := at(f, b)
	return l.apart(geom.Vec3{X: ax, Z: az}, geom.Vec3{X: bx, Z: bz})
}

// apart reports whether two places are out of range of each other.
func (l *Lobby) apart(a, b geom.Vec3) bool {
	if l.cfg.ViewDistance == 0 {
		return false
	}
	cfg := l.replication.players.grid.Config()
	p, q := l.replication.players.grid.Cell(a.X, a.Z), l.replication.players.grid.Cell(b.X, b.Z)
	dx, dz := p%cfg.Wide-q%cfg.Wide, p/cfg.Wide-q/cfg.Wide
	return dx*dx+dz*dz > cfg.ViewDistance*cfg.ViewDistance
}

// at is where the row of a slot stands.
func at(f *snapshot.Frame, slot int) (x, z float32) {
	var row [netstate.PublicFields]int32
	p := netstate.PoseOf(f.Row(slot, row[:]), row[:]).Pos
	return p.X, p.Z
}

// detail adds the numbers behind a verdict.
func (l *Lobby) detail(v *Explanation, c *conn, f *snapshot.Frame, slot int) {
	v.Acked = uint32(c.repl.acks.tracker.Shown(l.replication.players.frames, netid.ID(v.Entity)))
	if v.Metres = -1; c.repl.view.viewpoint >= 0 {
		ax, az := at(f, int(c.repl.view.viewpoint))
		bx, bz := at(f, slot)
		v.Metres = int(math.Hypot(float64(bx-ax), float64(bz-az)))
	}
	if v.Reason == ReasonFreeCamera || v.Reason == ReasonViewpointChanged {
		return
	}
	if c.repl.view.selection == rowsScheduled || c.repl.view.selection == rowsJoining {
		v.Priority, v.Threshold = c.repl.view.interest.Priority(slot), c.repl.view.interest.Threshold()
	}
	if c.repl.view.selection == rowsScheduled && v.Reason != ReasonClipped {
		_, patience := waitLimits(l, c)
		v.Waited = int(c.index(c.repl.pacing.sent, l) - c.repl.schedule.sentAt[slot])
		v.MaxWait = patience * int(l.every(c))
	}
}

// lookUntold counts what became of everybody in the snapshot of tick t that a connection was just sent.
func (l *Lobby) lookUntold(c *conn, t tick.Tick) {
	r, f := &l.account.replication, l.replication.players.frames.At(t)
	r.Snapshots++
	for slot := range f.Slots() {
		if f.ID(slot) != 0 {
			r.Players[l.why(c, f, slot)]++
		}
	}
	l.lookUntoldThings(c, t)
}

// load is how many bytes of a snapshot have been sent.
type load struct {
	slot  int32
	bytes int
}

// weigh notes a datagram of a snapshot, and records the size of the snapshot before when another begins.
func (l *Lobby) weigh(slot int32, bytes int, first bool) {
	if first || slot != l.egress.snapshot.slot {
		l.weighed()
		l.egress.snapshot.slot = slot
	}
	l.egress.snapshot.bytes += bytes
}

// weighed ends the snapshot that is being weighed.
func (l *Lobby) weighed() {
	if l.egress.snapshot.bytes > 0 {
		l.Stats.SnapshotBytes.Record(int64(l.egress.snapshot.bytes))
	}
	l.egress.snapshot = load{slot: -1}
}

// survey records once a second for each connection how its line is.
func (l *Lobby) survey(c *conn, t tick.Tick) {
	s := &l.Stats
	if rtt := c.session.peer.RTT(); rtt.Smoothed > 0 {
		s.RTT.Record(int64(rtt.Smoothed))
		s.RTTVar.Record(int64(rtt.Var))
	}
	if c.session.ready {
		s.InputBuffer.Record(int64(l.match.CommandBuffer(c.id).Lead(t)) * int64(l.cfg.Rules.Rate.Period()))
		if f := l.aim.Features(c.id.Index()); f.Hits > 0 {
			s.Aim.Record(int64(1000 * f.Score()))
		}
	}
}

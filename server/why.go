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

// Why says what became of an entity in the newest snapshot to a client: told, or why not. That nothing about it has changed is no
// reason: an entity in sight that stays as it was is told to be so, in a bit or two.
type Why uint8

// The reasons. WhyPace to WhySlot are of things alone. The last four are of the client: then there is no snapshot to look at.
const (
	WhyTold     Why = iota
	WhyRange        // it is farther than Config.Far
	WhySight        // walls, or Config.Sight, hide it, and it was not seen a moment ago
	WhyLine         // the client's line cannot carry so many, and others are nearer
	WhyBudget       // others mattered more, and the snapshot was full: it waits, and gains weight
	WhyJoining      // likewise in a snapshot to somebody who comes in
	WhyDetail       // the lobby sheds detail: others are nearer, and it was not its turn
	WhyTarget       // the client looks on through nobody's eyes
	WhyTurned       // the client looks on, and through other eyes than in that snapshot
	WhyNew          // it came in after the client's newest snapshot
	WhyWatches      // it looks on: nobody is told of spectators
	WhyPace         // a thing: told, but as it was when its class was due last
	WhyKept         // a thing: nothing of what the client holds of things has changed, and that takes no bit
	WhySlot         // a thing: more flies than the lobby has slots for
	WhyNobody       // there is no such entity
	WhyNoClient     // there is no such client, or nobody plays by it
	WhyAway         // its session timed out
	WhyLoading      // it has not said that it is ready
	WhyNone         // it was sent no snapshot yet, or must begin anew and was sent none since
	NumWhys         // how many there are
)

var whys = [NumWhys]struct{ name, text string }{
	WhyTold:     {"told", "it was told"},
	WhyRange:    {"range", "out of range"},
	WhySight:    {"sight", "not in sight: walls hide it"},
	WhyLine:     {"line", "the client's line cannot carry all who are in sight, and others are nearer"},
	WhyBudget:   {"budget", "others mattered more, and the byte budget was spent"},
	WhyJoining:  {"joining", "the client comes in, and others mattered more within the bytes for newcomers"},
	WhyDetail:   {"detail", "the lobby is overloaded and sheds detail: others are nearer, and it was not its turn"},
	WhyTarget:   {"target", "the client looks on, and through nobody's eyes"},
	WhyTurned:   {"turned", "the client looks on, and turned to other eyes since its newest snapshot"},
	WhyNew:      {"new", "it came in after the client's newest snapshot"},
	WhyWatches:  {"spectator", "it looks on: nobody is told of spectators"},
	WhyPace:     {"pace", "it was told as it was when its class was due last, as it is not told in each snapshot"},
	WhyKept:     {"kept", "the client holds it as it is: nothing of the things has changed, which takes no bit"},
	WhySlot:     {"slot", "more flies than the lobby has slots to tell of: it waits for one"},
	WhyNobody:   {"nobody", "there is no such entity"},
	WhyNoClient: {"no_client", "there is no such client"},
	WhyAway:     {"away", "the client's session timed out"},
	WhyLoading:  {"loading", "the client is not ready"},
	WhyNone:     {"none", "the client was sent no snapshot since it began, or began anew"},
}

// String names the reason in one word.
func (w Why) String() string { return whys[w].name }

// Text is the reason as a person would say it.
func (w Why) Text() string { return whys[w].text }

// MarshalText is String.
func (w Why) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (w *Why) UnmarshalText(text []byte) error {
	for i := range whys {
		if whys[i].name == string(text) {
			*w = Why(i)
			return nil
		}
	}
	return fmt.Errorf("reason %q: expected one of told to none", text)
}

// Held says why no snapshot came that was due.
type Held uint8

// The reasons, each of which has a counter, too.
const (
	HeldNot       Held = iota // one came, or none was due
	HeldChoked                // the client is not heard
	HeldStarved               // it acknowledges nothing of what has to be sent in full
	HeldThrottled             // its bucket is empty
)

// String names the reason in one word.
func (h Held) String() string { return [...]string{"", "choked", "starved", "throttled"}[h] }

// MarshalText is String.
func (h Held) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (h *Held) UnmarshalText(text []byte) error {
	for i := HeldNot; i <= HeldThrottled; i++ {
		if i.String() == string(text) {
			*h = i
			return nil
		}
	}
	return fmt.Errorf("held %q: expected choked, starved, throttled or nothing", text)
}

// chosen is how the rows of a snapshot were chosen.
type chosen uint8

const (
	choseAll    chosen = iota // all, in blocks
	choseSeen                 // all that it sees
	choseThin                 // what the line carries
	choseEntry                // what fits into the bytes for newcomers
	choseDetail               // the nearest of what it sees, and others in turn
)

// Verdict answers why a client is not told of an entity.
type Verdict struct {
	Client   uint32 `json:"client"`           // net ids
	Entity   uint32 `json:"entity,omitempty"` // 0: of what stands about
	Thing    string `json:"thing,omitempty"`  // a ThingRef, "" of players
	Slot     int    `json:"slot"`             // of its row in snapshots, -1 for none
	Why      Why    `json:"why"`
	Text     string `json:"text"`                  // of Why
	Tick     uint32 `json:"tick"`                  // of the client's newest snapshot; 0 for none
	Age      uint32 `json:"age_ticks"`             // of that
	Interval uint32 `json:"interval_ticks"`        // from one snapshot of the client to the next
	Held     Held   `json:"held,omitempty"`        // why none came that was due since
	Acked    uint32 `json:"acked"`                 // newest snapshot known to have arrived that showed the entity; 0 for none of late
	Weight   int    `json:"weight,omitempty"`      // that the entity has gained since it was last told, where snapshots have no room for all
	Floor    int    `json:"floor,omitempty"`       // that it took to be in the newest one; 0: all fit
	Metres   int    `json:"metres,omitempty"`      // from the client's player or whom it looks through, level, in that snapshot; -1: it looks on through nobody's eyes
	Waited   int    `json:"waited,omitempty"`      // send intervals since the entity was told or came in sight, where the line does not carry all
	Stale    uint32 `json:"stale_ticks,omitempty"` // of a thing that was told as it was: so many ticks before that snapshot
	Patience int    `json:"patience,omitempty"`    // of such intervals, after which it goes before all others
}

// Explain says what became of an entity in the newest snapshot to a client, both by net id. ExplainThing says so of what stands about,
// which has none. Call it between ticks.
func (l *Lobby) Explain(client, entity netid.ID) Verdict {
	if r, ok := refOf(entity); ok {
		return l.ExplainThing(client, r)
	}
	v := Verdict{Client: uint32(client), Entity: uint32(entity), Slot: -1}
	c, why := l.whose(client)
	if v.Why = why; why != WhyTold {
		v.Text = v.Why.Text()
		return v
	}
	f := l.frames.At(c.repl.pacing.sent)
	l.snapshotOf(&v, c)
	slot := entity.Index()
	switch {
	case entity == 0 || slot >= len(l.conns):
		v.Why = WhyNobody
	case c.repl.pacing.sent == 0 || f == nil:
		v.Why = WhyNone
	case f.ID(slot) != entity && l.match.Vital(entity) != nil:
		if v.Why = WhyNew; l.match.Vital(entity).Watches {
			v.Why = WhyWatches
		}
	case f.ID(slot) != entity:
		v.Why = WhyNobody
	default:
		v.Slot, v.Why = slot, l.why(c, f, slot)
		l.detail(&v, c, f, slot)
	}
	v.Text = v.Why.Text()
	return v
}

// snapshotOf adds which snapshot a verdict is about.
func (l *Lobby) snapshotOf(v *Verdict, c *conn) {
	v.Tick, v.Age, v.Interval, v.Held = uint32(c.repl.pacing.sent), uint32(l.match.Tick()-c.repl.pacing.sent), uint32(c.repl.pacing.spacing), c.repl.pacing.delayed
}

// Name is what a verdict is about: a net id, or a thing.
func (v *Verdict) Name() string {
	if v.Thing != "" {
		return v.Thing
	}
	return strconv.FormatUint(uint64(v.Entity), 10)
}

// Sentence is the verdict for people.
func (v *Verdict) Sentence() string {
	s := fmt.Sprintf("client %d, entity %s: %s: %s", v.Client, v.Name(), v.Why, v.Text)
	if v.Thing == "" && v.Entity == 0 { // about nothing, as there is nothing to say of anything
		s = fmt.Sprintf("client %d: %s: %s", v.Client, v.Why, v.Text)
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
	if v.Why == WhyBudget || v.Why == WhyJoining {
		s += fmt.Sprintf(", weighs %d, and %d was needed", v.Weight, v.Floor)
	}
	if v.Patience != 0 {
		s += fmt.Sprintf(", waits for %d of at most %d intervals until it goes first", v.Waited, v.Patience)
	}
	if v.Held != HeldNot {
		s += fmt.Sprintf("; the next snapshot is held back: %s", v.Held)
	}
	return s
}

// whose finds the connection of a client that gets snapshots; of others it says why there are none.
func (l *Lobby) whose(client netid.ID) (*conn, Why) {
	slot := client.Index()
	if client == 0 || slot >= len(l.conns) || l.conns[slot].id != client || l.match.Vital(client) == nil {
		return nil, WhyNoClient
	}
	c := &l.conns[slot]
	for _, s := range l.reconnectable {
		if int(s) == slot {
			return nil, WhyAway
		}
	}
	if !c.session.ready {
		return nil, WhyLoading
	}
	return c, WhyTold
}

// why is what became of the row of a slot in a connection's newest snapshot, of frame f, where somebody is in it.
func (l *Lobby) why(c *conn, f *snapshot.Frame, slot int) Why {
	said, known := c.repl.acks.tracker.Said(slot)
	switch {
	case !known:
		return WhyNone
	case said:
		return WhyTold
	case c.repl.view.viewpoint < 0 && (c.repl.view.selection != choseThin || c.repl.thin.seen[slot>>6]>>(slot&63)&1 == 0):
		return WhyTarget
	case int(c.repl.view.viewpoint) != c.viewpoint(): // what it saw through the others is forgotten
		return WhyTurned
	case c.repl.view.interest.Seen()[slot>>6]>>(slot&63)&1 == 0:
		if l.beyond(f, int(c.repl.view.viewpoint), slot) {
			return WhyRange
		}
		return WhySight
	case c.repl.view.selection == choseThin && c.repl.thin.seen[slot>>6]>>(slot&63)&1 == 0:
		return WhyLine
	case c.repl.view.selection == choseEntry:
		return WhyJoining
	case c.repl.view.selection == choseDetail:
		return WhyDetail
	}
	return WhyBudget
}

// beyond reports whether two rows of a frame are out of range of each other.
func (l *Lobby) beyond(f *snapshot.Frame, a, b int) bool {
	ax, az := at(f, a)
	bx, bz := at(f, b)
	return l.apart(geom.Vec3{X: ax, Z: az}, geom.Vec3{X: bx, Z: bz})
}

// apart reports whether two places are out of range of each other.
func (l *Lobby) apart(a, b geom.Vec3) bool {
	if l.cfg.Far == 0 {
		return false
	}
	cfg := l.crowd.grid.Config()
	p, q := l.crowd.grid.Cell(a.X, a.Z), l.crowd.grid.Cell(b.X, b.Z)
	dx, dz := p%cfg.Wide-q%cfg.Wide, p/cfg.Wide-q/cfg.Wide
	return dx*dx+dz*dz > cfg.Far*cfg.Far
}

// at is where the row of a slot stands.
func at(f *snapshot.Frame, slot int) (x, z float32) {
	var row [netstate.PublicFields]int32
	p := netstate.PoseOf(f.Row(slot, row[:]), row[:]).Pos
	return p.X, p.Z
}

// detail adds the numbers behind a verdict.
func (l *Lobby) detail(v *Verdict, c *conn, f *snapshot.Frame, slot int) {
	v.Acked = uint32(c.repl.acks.tracker.Shown(l.frames, netid.ID(v.Entity)))
	if v.Metres = -1; c.repl.view.viewpoint >= 0 {
		ax, az := at(f, int(c.repl.view.viewpoint))
		bx, bz := at(f, slot)
		v.Metres = int(math.Hypot(float64(bx-ax), float64(bz-az)))
	}
	if v.Why == WhyTarget || v.Why == WhyTurned {
		return
	}
	if c.repl.view.selection == choseThin || c.repl.view.selection == choseEntry {
		v.Weight, v.Floor = c.repl.view.interest.Weight(slot), c.repl.view.interest.Floor()
	}
	if c.repl.view.selection == choseThin && v.Why != WhyLine {
		_, patience := turns(l, c)
		v.Waited = int(c.index(c.repl.pacing.sent, l) - c.repl.thin.last[slot])
		v.Patience = patience * int(l.every(c))
	}
}

// lookUntold counts what became of everybody in the snapshot of tick t that a connection was just sent.
func (l *Lobby) lookUntold(c *conn, t tick.Tick) {
	r, f := &l.account.replication, l.frames.At(t)
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
	if first || slot != l.load.slot {
		l.weighed()
		l.load.slot = slot
	}
	l.load.bytes += bytes
}

// weighed ends the snapshot that is being weighed.
func (l *Lobby) weighed() {
	if l.load.bytes > 0 {
		l.Stats.SnapshotBytes.Record(int64(l.load.bytes))
	}
	l.load = load{slot: -1}
}

// survey records once a second for each connection how its line is.
func (l *Lobby) survey(c *conn, t tick.Tick) {
	s := &l.Stats
	if rtt := c.session.peer.RTT(); rtt.Smoothed > 0 {
		s.RTT.Record(int64(rtt.Smoothed))
		s.RTTVar.Record(int64(rtt.Var))
	}
	if c.session.ready {
		s.InputBuffer.Record(int64(l.match.Inbox(c.id).Lead(t)) * int64(l.cfg.Rules.Rate.Period()))
		if f := l.aim.Of(c.id.Index()); f.Hits > 0 {
			s.Aim.Record(int64(1000 * f.Score()))
		}
	}
}

package handoff

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// world is a move in virtual time: two hosts, a store, and a network that loses, delays and is cut.
type world struct {
	rng  *rand.Rand
	now  time.Duration
	bug  string
	ends [2]end
	kv   record
	wire []letter
	cuts []cut

	lossy float64
}

// record is what the store has.
type record struct {
	owner    string
	revision uint64
}

// end is one of the two hosts.
type end struct {
	name   string
	source *Source
	target *Target
	plays  bool // the lobby plays here: it sends to clients
	told   bool // its players were told that it ended
	killAt time.Duration
	dead   bool
}

// letter is a message or an answer of the store on its way.
type letter struct {
	at time.Duration
	to int
	e  Event
}

// cut is a time in which a host reaches neither the other one nor the store.
type cut struct {
	host     int
	from, to time.Duration
}

func newWorld(seed uint64, bug string) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 3)), bug: bug}
	w.ends = [2]end{{name: "a", plays: true, killAt: never}, {name: "b", killAt: never}}
	w.lossy = []float64{0, 0.05, 0.3}[seed%3]
	for n := range 2 { // each at any instant of the move
		if w.rng.IntN(4) == 0 {
			w.ends[n].killAt = time.Duration(w.rng.Int64N(int64(3 * time.Second)))
		}
		if w.rng.IntN(3) == 0 {
			from := time.Duration(w.rng.Int64N(int64(3 * time.Second)))
			w.cuts = append(w.cuts, cut{n, from, from + time.Duration(w.rng.Int64N(int64(15*time.Second)))})
		}
	}
	return w
}

const never = time.Hour

// reaches reports whether a host has a connection.
func (w *world) reaches(host int) bool {
	for _, c := range w.cuts {
		if c.host == host && w.now >= c.from && w.now < c.to {
			return false
		}
	}
	return !w.ends[host].dead
}

// post sends an event to a host, later and perhaps never. from -1 is the host itself.
func (w *world) post(from, to int, e Event) {
	if from >= 0 && (!w.reaches(from) || !w.reaches(to) || w.rng.Float64() < w.lossy) {
		return
	}
	delay := time.Duration(w.rng.Int64N(int64(30 * time.Millisecond)))
	if w.rng.IntN(20) == 0 {
		delay *= 20
	}
	w.wire = append(w.wire, letter{w.now + delay, to, e})
}

// claim writes the record as ActionClaim says. The answer may be lost though the write was done.
func (w *world) claim(host int, create bool, revision uint64) {
	me := &w.ends[host]
	lost := w.rng.Float64() < w.lossy
	if !w.reaches(host) || lost && w.rng.IntN(2) == 0 {
		w.post(-1, host, Event{Kind: EventUnknown})
		return
	}
	if create || w.kv.revision == revision || w.bug == "lost epoch" {
		w.kv = record{me.name, w.kv.revision + 1}
	}
	if lost {
		w.post(-1, host, Event{Kind: EventUnknown})
		return
	}
	w.post(-1, host, Event{Kind: EventOwned, Owner: w.kv.owner, Revision: w.kv.revision})
}

// do carries out what the machine of a host has decided.
func (w *world) do(host int, actions []Action) {
	me, other := &w.ends[host], 1-host
	isSource := me.source != nil
	for _, a := range actions {
		switch a {
		case ActionRegister:
			w.claim(host, true, 0)
		case ActionOffer:
			w.post(host, other, Event{Kind: EventPrepared}) // the target makes the lobby at once
		case ActionAnswer:
			w.post(host, other, Event{Kind: EventPrepared})
		case ActionTell:
		case ActionReady:
			w.post(host, other, Event{Kind: EventReady, Ready: 5})
		case ActionFreeze:
			me.plays = false
			w.post(-1, host, Event{Kind: EventFrozen})
		case ActionSend:
			w.post(host, other, Event{Kind: EventState, Revision: 1})
		case ActionRead:
			w.post(-1, host, Event{Kind: EventRead})
		case ActionClaim:
			if w.bug == "two owners" && isSource {
				w.post(-1, host, Event{Kind: EventOwned, Owner: me.name})
				continue
			}
			w.claim(host, false, 1)
		case ActionThaw:
			me.plays = true
		case ActionTaken:
			w.post(host, other, Event{Kind: EventTaken})
		case ActionCancel:
			w.post(host, other, Event{Kind: EventCancelled})
		case ActionEnd:
			me.plays, me.told = false, true
		}
	}
}

// deliver hands an event to the machine of a host.
func (w *world) deliver(host int, e Event) {
	me := &w.ends[host]
	switch {
	case me.dead:
	case me.source != nil:
		w.do(host, me.source.Step(w.now, e))
	case me.target == nil && e.Kind == EventPrepared: // an offer
		me.target = NewTarget(w.now, me.name)
		w.do(host, me.target.Step(w.now, Event{Kind: EventPrepared}))
	case me.target != nil:
		w.do(host, me.target.Step(w.now, e))
	}
}

// run plays a move to its end, and returns what is wrong with it.
func (w *world) run() error {
	src, do := NewSource(0, "a", 5)
	w.ends[0].source = src
	w.do(0, do)
	for ; w.now < 60*time.Second; w.now += 5 * time.Millisecond {
		for n := range w.ends {
			if me := &w.ends[n]; w.now >= me.killAt && !me.dead {
				me.dead, me.plays = true, false
			}
		}
		var rest []letter
		due := w.wire
		w.wire = nil
		for _, l := range due {
			if l.at <= w.now {
				w.deliver(l.to, l.e)
			} else {
				rest = append(rest, l)
			}
		}
		w.wire = append(rest, w.wire...)
		if w.now%(20*time.Millisecond) == 0 {
			for n := range w.ends {
				w.deliver(n, Event{Kind: EventTick})
				if t := w.ends[n].target; t != nil && t.Phase() == TargetAwaiting {
					w.deliver(n, Event{Kind: EventReady, Ready: 5})
				}
			}
		}
		if w.ends[0].plays && w.ends[1].plays {
			return fmt.Errorf("after %v both hosts play", w.now)
		}
	}
	return w.outcome()
}

// outcome checks that the lobby plays on one host, or that its end was told, or its host was
// killed.
func (w *world) outcome() error {
	for i := range w.ends {
		e := &w.ends[i]
		if e.dead || e.source == nil && e.target == nil { // or it never had the lobby
			continue
		}
		if !w.over(e) {
			return fmt.Errorf("host %s has not come to an end", e.name)
		}
		if !e.plays && !e.told {
			return fmt.Errorf("host %s neither plays the lobby nor has told its players", e.name)
		}
	}
	return nil
}

func (w *world) over(e *end) (over bool) {
	switch {
	case e.source != nil:
		over, _ = e.source.Ended()
	case e.target != nil:
		over, _ = e.target.Ended()
	default:
		over = true
	}
	return over
}

// A lobby that moves plays on exactly one host, or ends with a reason, whatever is lost, cut or
// killed on the way, and at whatever instant.
func TestRow81MoveHasOneOwner(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(2000) {
		w := newWorld(seed, "")
		if err := w.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		switch {
		case w.ends[1].plays:
			count["moved"]++
		case w.ends[0].plays:
			count["stayed"]++
		default:
			count["ended"]++
		}
	}
	t.Logf("of 2000 moves: %v", count)
	for _, kind := range []string{"moved", "stayed", "ended"} {
		if count[kind] < 20 {
			t.Errorf("only %d moves of the kind %q: the faults are too weak or too strong", count[kind], kind)
		}
	}
}

// Without faults every lobby moves.
func TestMoveWithoutFaults(t *testing.T) {
	for seed := range uint64(50) {
		w := newWorld(3*seed, "")
		w.cuts, w.ends[0].killAt, w.ends[1].killAt = nil, never, never
		if err := w.run(); err != nil || !w.ends[1].plays || !w.ends[0].told {
			t.Fatalf("seed %d: %v; plays %v, ended at the source %v", seed, err, w.ends[1].plays, w.ends[0].told)
		}
	}
}

// Bugs that are put into the way of the record are found within 200 moves.
func TestMoveFindsPlantedBugs(t *testing.T) {
	for _, bug := range []string{"two owners", "lost epoch"} {
		found := ""
		for seed := range uint64(200) {
			if err := newWorld(seed, bug).run(); err != nil {
				found = fmt.Sprintf("seed %d: %v", seed, err)
				break
			}
		}
		if found == "" {
			t.Errorf("%s: not found", bug)
		}
		t.Log(bug, "found by", found)
	}
}

package replay

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// ErrGap reports a chunk without a key that does not follow the one before.
var ErrGap = errors.New("replay: a chunk that follows another")

// Divergence says where a replayed match differs from the recording.
type Divergence struct {
	Since tick.Tick // last tick with matching checksums; the first difference lies after it
	Tick  tick.Tick // first tick with different checksums
	What  string    // the component, object or number that differs first
}

// Error describes the divergence.
func (d *Divergence) Error() string {
	return fmt.Sprintf("replay: diverged at tick %d, after tick %d: %s", d.Tick, d.Since, d.What)
}

// Panic says that a tick panicked when it was played again: the recording is of a match that did, or
// is damaged. It wraps ErrFormat.
type Panic struct {
	Tick  tick.Tick
	Value any // as recover returned it
	Stack []byte
}

// Error names the tick and the value.
func (p *Panic) Error() string {
	return fmt.Sprintf("%v: it cannot be played: tick %d panics: %v", ErrFormat, p.Tick, p.Value)
}

// Unwrap returns ErrFormat.
func (p *Panic) Unwrap() error { return ErrFormat }

// Player plays chunks again.
type Player struct {
	Match *sim.Match // nil before the first chunk; read-only

	// EnterSystem, if set, is called as by sim.Match.ReplayTimed.
	EnterSystem func(system int)

	// AfterTick, if set, is called after every tick, before its checksums are compared. A panic
	// in it counts as one of the tick.
	AfterTick func()

	head      Head
	slots     int
	rules     sim.Rules
	ground    *arena.Arena
	log       *reader
	inputs    sim.TickInputs
	last      tick.Tick // of the current chunk
	ticks     int       // played of it
	since     tick.Tick // last tick that was compared
	checksums []sim.Checksum
	recorded  []uint16

	Compared int // checkpoints and states that matched
}

// NewPlayer makes a player for chunks of a recording, with the game and the map that its head
// names. Errors are those of Head.Rules.
func NewPlayer(h *Head, game *sim.Game, a *arena.Arena) (*Player, error) {
	rules, err := h.Rules(game, a)
	if err != nil {
		return nil, err
	}
	return &Player{head: *h, slots: h.Slots, rules: rules, ground: a}, nil
}

// Load takes the next chunk, or any chunk with a key. If it follows the last one, its key is
// compared with the match: a *Divergence says which number differs, and the match stays as it was
// played. Other errors wrap ErrFormat, ErrGap, ErrRules or sim.ErrState.
func (p *Player) Load(c *Chunk) error {
	log, err := newReader(c.Log, p.slots)
	if err != nil {
		return err
	}
	follows := p.Match != nil && p.Match.Tick() == p.last && p.last+1 == c.First
	switch {
	case follows && len(c.Key) > 0:
		if now, err := p.Match.Save(nil); err != nil {
			return err
		} else if len(now) != len(c.Key) || string(now) != string(c.Key) {
			if what := p.differ(c.Key, now); what != "" {
				return &Divergence{Since: p.since, Tick: p.Match.Tick(), What: what}
			}
		}
		p.since = p.Match.Tick()
		p.Compared++
	case follows:
	case len(c.Key) > 0:
		m, err := sim.Load(p.slots, p.rules, p.ground, c.Key)
		if err != nil {
			return cmp.Or(p.head.CheckSchema(), err)
		}
		if m.Tick()+1 != c.First {
			return fmt.Errorf("%w: a state of tick %d before tick %d", ErrFormat, m.Tick(), c.First)
		}
		p.Match, p.since = m, m.Tick()
	default:
		return fmt.Errorf("%w: tick %d without a state", ErrGap, c.First)
	}
	p.log, p.last, p.ticks = log, c.Last(), 0
	return nil
}

// differ compares what a recorded and a replayed match have in common: not the commands that were
// never used, nor the clamp limits that no shot was judged by.
func (p *Player) differ(recorded, played []byte) string {
	a, err := sim.Load(p.slots, p.rules, p.ground, recorded)
	if err != nil {
		return fmt.Sprintf("a state that is none: %v", err)
	}
	if a.Hash() == p.Match.Hash() {
		return ""
	}
	return sim.Differ(recorded, played, p.Match)
}

// Restore makes another match of the recording from a state that sim.Match.Save of the player's match
// has returned. The error wraps sim.ErrState.
func (p *Player) Restore(state []byte) (*sim.Match, error) {
	return sim.Load(p.slots, p.rules, p.ground, state)
}

// Done reports whether all ticks of the current chunk are played.
func (p *Player) Done() bool { return p.Match == nil || p.Match.Tick() >= p.last }

// Step plays the next tick of the current chunk, and compares its checksums if it has any. The
// error is a *Divergence, a *Panic, or says why the log cannot be played; then Load another chunk. It
// panics if the chunk is done.
func (p *Player) Step() (err error) {
	if p.Done() {
		panic("replay: Step of a chunk that is done")
	}
	now := p.Match.Tick() + 1
	defer func() {
		if fault := recover(); fault != nil { // a hostile recording may do what no match does
			p.last = 0
			err = &Panic{Tick: now, Value: fault, Stack: debug.Stack()}
		}
	}()
	if err = p.log.tick(&p.inputs, now); err == nil {
		err = p.play()
	}
	p.ticks++
	if err == nil && p.log.hasChecksum(p.ticks) {
		err = p.compare()
	}
	if err == nil && now == p.last && !p.log.done() {
		err = fmt.Errorf("%w: a log that does not end with its last tick, %d", ErrFormat, now)
	}
	if err != nil {
		p.last = 0
	}
	return err
}

// play plays a tick of the inputs that were read.
func (p *Player) play() (err error) {
	if p.EnterSystem == nil {
		err = p.Match.Replay(&p.inputs)
	} else {
		err = p.Match.ReplayTimed(&p.inputs, p.EnterSystem)
	}
	if err == nil && p.AfterTick != nil {
		p.AfterTick()
	}
	return err
}

// Inputs is the inputs of the last tick; valid until the next Step.
func (p *Player) Inputs() *sim.TickInputs { return &p.inputs }

// compare holds the match against the checksums of its tick.
func (p *Player) compare() error {
	p.checksums = p.Match.Checksums(p.checksums[:0])
	if len(p.recorded) != len(p.checksums) {
		p.recorded = make([]uint16, len(p.checksums))
	}
	hash, err := p.log.checksums(p.recorded)
	if err != nil {
		return err
	}
	for i := range p.checksums {
		if uint16(p.checksums[i].Sum) != p.recorded[i] {
			return &Divergence{p.since, p.Match.Tick(), p.checksums[i].Name}
		}
	}
	if got := p.Match.Hash(); got != hash {
		return &Divergence{p.since, p.Match.Tick(), fmt.Sprintf("the hash is %016x, recorded was %016x",
			got, hash)}
	}
	p.since = p.Match.Tick()
	p.Compared++
	return nil
}

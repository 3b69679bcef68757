package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// Errors of Save and Load.
var (
	ErrPending = errors.New("sim: save: somebody comes or goes with the coming tick; save right after Step")
	ErrState   = errors.New("sim: not a saved state of such a match")
)

// saveVersion is the first byte of a saved state.
const saveVersion = 2

// lastSaved is the newest tick of a loadable state: later ticks might wrap within a match.
const lastSaved = 1 << 31

// savedBuffer is the saved part of a command buffer.
type savedBuffer struct {
	taken, newest  tick.Tick
	repeats, count uint8 // count: waiting commands
	last           Command
}

// part is a piece of a match's state: the data of the table that it holds, and how it is written
// and read.
type part struct {
	name  string
	holds []Datum
	types []reflect.Type // of its plain memory
	save  func(*State, []byte) []byte
	load  func(*Match, []byte) (rest []byte, err error)
}

// parts is the whole state of a match between two ticks, in the order in which it is written. The
// kinds' part holds every column that a kind declares as state; a test fails for a persistent datum
// that is in no part.
var parts = []part{
	{"settings", nil, []reflect.Type{reflect.TypeFor[int32]()}, func(s *State, dst []byte) []byte {
		return appendPlanes(dst, single(&s.respawnMillis))
	}, loadSettings},
	{"round", []Datum{dMode}, []reflect.Type{reflect.TypeFor[Clock](), reflect.TypeFor[Score](),
		reflect.TypeFor[mode.State]()}, func(s *State, dst []byte) []byte {
		dst = appendPlanes(appendPlanes(dst, single(&s.clock)), single(&s.score))
		return appendPlanes(dst, single(&s.mode))
	}, loadRound},
	{"kinds", []Datum{dClampLimits, dCommand, dLook, dVital, dAbility, dMotion, dAnim}, nil, saveKinds,
		loadKinds},
	{"inboxes", []Datum{dCommandBuffers}, []reflect.Type{reflect.TypeFor[savedBuffer](),
		reflect.TypeFor[Command]()}, saveInboxes, loadInboxes},
	{"area hits", []Datum{dAreas}, []reflect.Type{reflect.TypeFor[tick.Tick]()}, saveAreaHits, loadAreaHits},
	{"blasts", []Datum{dBlasts}, []reflect.Type{reflect.TypeFor[object.Blast]()}, saveBlasts, loadBlasts},
	{"history", []Datum{dHistory}, []reflect.Type{reflect.TypeFor[rig.Pose]()}, saveHistory, loadHistory},
}

// Save appends the whole state of the match after a Step, for Load. It copies the match and encodes
// the copy: State.CopyAll and Append do either alone. It fails with ErrPending while a join or
// leave is pending, and changes nothing.
func (m *Match) Save(dst []byte) ([]byte, error) {
	if m.scratch.saved == nil {
		m.scratch.saved = NewState(m)
	}
	if err := m.scratch.saved.CopyAll(m); err != nil {
		return dst, err
	}
	return m.scratch.saved.Append(dst), nil
}

// Append appends what CopyAll copied, for Load: the next ticks of both matches are equal if their
// inputs are. It is compact before compression only where that is cheap; its size depends on
// players and objects. It panics if poses were not copied.
//
//	1  version
//	8  layout  fingerprint of the schema
//	4  slots
//	   parts, see the table
func (s *State) Append(dst []byte) []byte {
	if s.poses.next != s.Tick()+1 {
		panic("sim: State.Append without CopyAll")
	}
	dst = append(dst, saveVersion)
	dst = binary.LittleEndian.AppendUint64(dst, layout())
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.slots))
	for i := range parts {
		dst = parts[i].save(s, dst)
	}
	return dst
}

// Layout is a fingerprint of the schema: states of two builds that differ in it are not compatible.
func (m *Match) Layout() uint64 { return layout() }

// Load makes a match from what Save wrote. Slots, rules except RespawnMillis, and arena must be
// those of the saved match. Whatever src holds, the result is a match in a possible state, or an
// error; besides the match it allocates no more than a few times len(src). Errors wrap ErrState
// and say what was expected.
func Load(slots int, rules Rules, a *arena.Arena, src []byte) (*Match, error) {
	m := New(slots, rules, a)
	switch {
	case len(src) < 13:
		return nil, fmt.Errorf("%w: %d bytes", ErrState, len(src))
	case src[0] != saveVersion:
		return nil, fmt.Errorf("%w: version %d, expected %d", ErrState, src[0], saveVersion)
	case binary.LittleEndian.Uint64(src[1:]) != m.Layout():
		return nil, fmt.Errorf("%w: of another build: layout %016x, expected %016x", ErrState,
			binary.LittleEndian.Uint64(src[1:]), m.Layout())
	case binary.LittleEndian.Uint32(src[9:]) != uint32(slots):
		return nil, fmt.Errorf("%w: %d slots, expected %d", ErrState, binary.LittleEndian.Uint32(src[9:]),
			slots)
	}
	src = src[13:]
	var err error
	for i := range parts {
		if src, err = parts[i].load(m, src); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, parts[i].name)
		}
	}
	if len(src) > 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrState, len(src))
	}
	return m, nil
}

// appendList writes the number of rows, and the rows.
func appendList[T any](dst []byte, rows []T) []byte {
	return appendPlanes(binary.AppendUvarint(dst, uint64(len(rows))), memoryOf(rows))
}

// parseList reads what appendList wrote, at most limit rows, after dst[:0].
func parseList[T any](src []byte, dst []T, limit int) (rows []T, rest []byte, err error) {
	n, rest, err := parseCount(src, limit, int(reflect.TypeFor[T]().Size()))
	if err != nil {
		return nil, nil, fmt.Errorf("%w of %v", err, reflect.TypeFor[T]())
	}
	if cap(dst) < n {
		dst = make([]T, n)
	}
	rows = dst[:n]
	rest, err = parsePlanes(rest, memoryOf(rows))
	return rows, rest, err
}

// parseCount reads a count of items that take up to size bytes each in memory, and at least half
// as many in src.
func parseCount(src []byte, limit, size int) (n int, rest []byte, err error) {
	v, k := binary.Uvarint(src)
	if k <= 0 {
		return 0, nil, fmt.Errorf("%w: no count", ErrState)
	}
	if v > uint64(limit) || v*uint64(size) > 2*uint64(len(src)) {
		return 0, nil, fmt.Errorf("%w: count %d", ErrState, v)
	}
	return int(v), src[k:], nil
}

// wrong is the error for a value that no match can have.
func wrong(what string, v any) error { return fmt.Errorf("%w: %s: %v", ErrState, what, v) }

// loadSettings reads the rules that may change during a match.
func loadSettings(m *Match, src []byte) ([]byte, error) {
	var millis int32
	src, err := parsePlanes(src, single(&millis))
	if err == nil && millis != m.Rules().RespawnMillis {
		if bad := m.SetRespawn(millis); bad != nil {
			err = fmt.Errorf("%w: %w", ErrState, bad)
		}
	}
	return src, err
}

// loadRound reads clock, score and mode, and checks them against the rules of the mode.
func loadRound(m *Match, src []byte) (_ []byte, err error) {
	clock, s := m.clock, m.mode
	if src, err = parsePlanes(src, single(clock)); err != nil {
		return nil, err
	}
	if clock.Tick > lastSaved {
		return nil, wrong("tick", clock.Tick)
	}
	if src, err = parsePlanes(src, single(m.Score())); err != nil {
		return nil, err
	}
	if src, err = parsePlanes(src, single(s)); err != nil {
		return nil, err
	}
	if s.Phase >= mode.Phases || s.Status >= mode.Statuses || s.Point > m.Game().Mode.Points ||
		s.Left > 921600 || s.Progress > m.Game().Mode.CaptureTotal() {
		return nil, wrong("round", *s)
	}
	m.Scene().Now = clock.Tick
	return src, nil
}

// saveInboxes writes the command buffers: a fixed part per player, then the commands that are not
// taken yet.
func saveInboxes(s *State, dst []byte) []byte {
	return appendList(appendPlanes(dst, memoryOf(s.inboxes)), s.waiting)
}

// loadInboxes reads what saveInboxes wrote; a command outside the window of its buffer is an error.
func loadInboxes(m *Match, src []byte) ([]byte, error) {
	ids := m.ids()
	in := m.commandBuffers.of
	rows := make([]savedBuffer, len(ids))
	src, err := parsePlanes(src, memoryOf(rows))
	if err != nil {
		return nil, err
	}
	all, src, err := parseList[Command](src, nil, bufferTicks*len(ids))
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		r, b := &rows[i], &in[id.Index()]
		if last, changed := r.last.Sanitize(); changed || r.taken != m.Tick() || int(r.count) > len(all) ||
			r.repeats > repeatTicks {
			return nil, wrong("inbox", last)
		}
		*b = CommandBuffer{taken: r.taken, last: r.last, repeats: r.repeats}
		for _, cmd := range all[:r.count] {
			if b.Offer(cmd); b.Count.Accepted == 0 || b.Count.Clamped > 0 {
				return nil, wrong("command that waits", cmd)
			}
			b.Count = CommandCounts{}
		}
		b.newest = r.newest
		all = all[r.count:]
	}
	if len(all) > 0 {
		return nil, wrong("commands beyond those of the buffers", len(all))
	}
	return src, nil
}

// ids lists the players by row.
func (m *Match) ids() []netid.ID { return m.idsOf(pagePlayer) }

package snapshot

import (
	"fmt"
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// baselineAges are the baseline ages in use, in send intervals. Fewer ages mean more sharing: with
// these a client's baseline is at most a half older than its newest acknowledgement. All even ages
// up to 16 are among them: groups that take two turns have such.
var baselineAges = [...]uint8{1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 24, 32, 48}

// MaxAge is the greatest baseline age in send intervals. A Ring must reach further back. The rest
// of the Window is how far datagrams may overtake each other before a client has dropped a
// baseline in use.
const MaxAge = 48

// IsBaselineAge reports whether a snapshot may be the baseline of one that is sent that many send
// intervals later. A sender that skips intervals should leave only such gaps, or it sends without
// baselines.
func IsBaselineAge(intervals int) bool {
	for _, age := range baselineAges {
		if int(age) == intervals {
			return true
		}
	}
	return false
}

// deepAge is the greatest age, in steps, of a baseline that comes with older ones. A step is the
// distance of two baselines, at most maxStep send intervals. Older baselines predict little, and
// sets that only one client has are not shared.
const (
	deepAge = 6
	maxStep = 4
)

// maxBaselineSets is how many sets of baselines the trackers of one interval name in a tick, at most:
// 48. A set is none, one baseline of any age, or one with older ones in any step.
var maxBaselineSets = func() int {
	n := 1
	for _, age := range baselineAges {
		n++
		for step := uint8(1); step <= maxStep; step++ {
			if age <= deepAge*step {
				n++
			}
		}
	}
	return n
}()

// MaxGroups bounds the groups of a frame.
const MaxGroups = 4096

// Tracker knows which groups of which snapshots one client has acknowledged, over the last Window
// send intervals, and picks baselines. It takes 64 bits a group, and 3.2 KB for each 128 slots
// after Reserve or after the first snapshot of rows.
type Tracker struct {
	interval tick.Tick
	now      tick.Tick
	groups   int
	words    int
	at       int  // index of its interval
	single   bool // baselines come one at a time
	// A snapshot of whole groups came after the last one that noted its rows.
	whole   bool
	acked   []uint64          // by interval, by group: a bit
	rest    []uint64          // scratch of Runs
	history *AckHistory       // of KeepHistory
	one     [1]uint64         // rest of a tracker of up to 64 groups
	rows    rowState          // empty until Reserve, or until a snapshot of rows
	sent    [Window]tick.Tick // by interval: the tick sent then
}

// NewTracker returns a tracker for frames of up to slots slots and a client that gets a snapshot
// every interval ticks. A Packer panics if the encoder's frame has more slots.
func NewTracker(slots int, interval tick.Tick) *Tracker {
	if slots <= 0 || slots > MaxGroups*GroupRows || interval == 0 {
		panic(fmt.Sprintf("snapshot: tracker of %d slots every %d ticks, want 1 to %d slots and at least 1 tick",
			slots, interval, MaxGroups*GroupRows))
	}
	groups := (slots + GroupRows - 1) / GroupRows
	words := (groups + 63) / 64
	k := &Tracker{interval: interval, groups: groups, words: words, acked: make([]uint64, Window*words)}
	if k.rest = k.one[:]; words > 1 {
		k.rest = make([]uint64, words)
	}
	return k
}

// Reset starts over with a new client, which holds nothing and shows nothing: acknowledgements of
// older snapshots count for nothing.
func (k *Tracker) Reset() {
	k.Forget()
	k.whole = false
	clear(k.rows.maybeVisible)
}

// Forget drops all baselines: snapshots begin anew. Unlike Reset it remembers the rows that the
// client may still show, so that hidden ones are removed.
func (k *Tracker) Forget() {
	for row := range k.sent {
		k.dropInterval(row)
	}
	clear(k.acked)
	clear(k.sent[:])
}

// KeepHistory makes the tracker record sent rows in h; nil ends it. Snapshots of whole groups are
// recorded by AckHistory.Sent.
func (k *Tracker) KeepHistory(h *AckHistory) { k.history = h }

func (k *Tracker) row(t tick.Tick) int { return int(t/k.interval) & (Window - 1) }

func (k *Tracker) bits(row int) []uint64 { return k.acked[row*k.words : (row+1)*k.words] }

// Advance begins the snapshot of tick t. Skipped intervals count as not sent. It panics if t is not
// later than the tick before.
func (k *Tracker) Advance(t tick.Tick) {
	if t <= k.now {
		panic(fmt.Sprintf("snapshot: tracker advanced to tick %d after %d, want a later one", t, k.now))
	}
	steps := min(int(t/k.interval)-int(k.now/k.interval), Window)
	for i := range max(steps, 1) {
		row := k.row(t - k.interval*tick.Tick(i))
		k.sent[row] = 0
		clear(k.bits(row))
		k.dropInterval(row)
	}
	k.now, k.at = t, k.row(t)
	k.sent[k.at] = t
}

// Acked records that the client holds count groups from first on of the snapshot of tick t. Ticks
// that were not sent or have left the window, and groups that do not exist, are ignored.
func (k *Tracker) Acked(t tick.Tick, first, count int) {
	row := k.row(t)
	if t == 0 || k.sent[row] != t || first < 0 || count <= 0 || first >= k.groups {
		return
	}
	end := min(first+count, k.groups)
	switch l := &k.rows; {
	case l.byRow>>row&1 != 0:
		k.ackedRows(row, t, first, end)
		return
	case l.wholeKnown>>row&1 != 0:
		k.ackedAll(row, t, first, end)
	default:
		k.whole = true
	}
	setRange(k.bits(row), first, end)
}

// Baseline returns the tick of the newest snapshot, among the ages in use, from which the client
// holds all of group g; 0 if there is none.
func (k *Tracker) Baseline(g int) tick.Tick {
	for _, age := range baselineAges {
		row, ok := k.aged(age)
		if ok && k.bits(row)[g>>6]>>(g&63)&1 != 0 {
			return k.sent[row]
		}
	}
	return 0
}

// Lacking is the number of the groups first to end-1 for which Baseline would be 0 a number of
// intervals ahead, if nothing were acknowledged until then.
func (k *Tracker) Lacking(first, end, ahead int) (n int) {
	if end = min(end, k.groups); first >= end {
		return 0
	}
	clear(k.rest)
	setRange(k.rest, first, end)
	for _, age := range baselineAges {
		row, ok := k.aged(age - uint8(min(ahead, int(age))))
		if !ok {
			continue
		}
		left := uint64(0)
		for i, have := range k.bits(row) {
			k.rest[i] &^= have
			left |= k.rest[i]
		}
		if left == 0 {
			return 0
		}
	}
	for _, w := range k.rest {
		n += bits.OnesCount64(w)
	}
	return n
}

// aged finds the interval that lies age intervals back.
func (k *Tracker) aged(age uint8) (row int, ok bool) {
	t := k.now - k.interval*tick.Tick(age)
	row = (k.at - int(age)) & (Window - 1)
	return row, t != 0 && t < k.now && k.sent[row] == t
}

// step is how many intervals lie between the two newest snapshots, 0 if there are none or more
// than maxStep.
func (k *Tracker) step() uint8 {
	if k.single {
		return 0
	}
	newest := uint8(0)
	for age := uint8(1); age <= 2*maxStep; age++ {
		if _, ok := k.aged(age); !ok {
			continue
		}
		if newest != 0 {
			return min(age-newest, maxStep+1) % (maxStep + 1)
		}
		newest = age
	}
	return 0
}

// spacedStep is step for groups that the client gets every spacing snapshots.
func (k *Tracker) spacedStep(spacing int) uint8 {
	if n := int(k.step()) * spacing; n <= maxStep {
		return uint8(n)
	}
	return 0
}

// olderBaselines finds the intervals of the two snapshots before the one of an age, a step apart
// each. ok is false if that one stays alone.
func (k *Tracker) olderBaselines(age, step uint8) (middle, oldest int, ok bool) {
	if step == 0 || age > deepAge*step {
		return 0, 0, false
	}
	if middle, ok = k.aged(age + step); ok {
		oldest, ok = k.aged(age + 2*step)
	}
	return middle, oldest, ok
}

// Runs appends the baselines of the groups first to end-1 to dst, equal neighbours together,
// ascending. While all groups share their baselines, as they do without loss, it costs a few
// instructions per 64 groups.
func (k *Tracker) Runs(dst []Run, first, end int) []Run { return k.runs(dst, first, end, k.step()) }

// runs is Runs with baselines that lie step intervals apart, 0 for one baseline each.
func (k *Tracker) runs(dst []Run, first, end int, step uint8) []Run {
	if first >= end {
		return dst
	}
	clear(k.rest)
	setRange(k.rest, first, end)
	start := len(dst)
	for _, age := range baselineAges {
		row, ok := k.aged(age)
		if !ok {
			continue
		}
		have, left := k.bits(row), uint64(0)
		if middle, oldest, ok := k.olderBaselines(age, step); ok {
			base := Baselines{k.sent[row], k.sent[middle], k.sent[oldest]}
			older, oldest := k.bits(middle), k.bits(oldest)
			for i, rest := range k.rest {
				if hit := have[i] & older[i] & oldest[i] & rest; hit != 0 {
					dst = appendBits(dst, i*64, hit, base)
					k.rest[i] &^= hit
				}
			}
		}
		for i, have := range have {
			if hit := have & k.rest[i]; hit != 0 {
				dst = appendBits(dst, i*64, hit, Baselines{k.sent[row]})
				k.rest[i] &^= hit
			}
			left |= k.rest[i]
		}
		if left == 0 {
			return sortRuns(dst, start)
		}
	}
	for i, hit := range k.rest {
		dst = appendBits(dst, i*64, hit, Baselines{})
	}
	return sortRuns(dst, start)
}

// appendBits appends the runs of ones in a word, joined to the last run where they touch.
func appendBits(dst []Run, at int, word uint64, base Baselines) []Run {
	for word != 0 {
		skip := bits.TrailingZeros64(word)
		n := bits.TrailingZeros64(^(word >> skip))
		if last := len(dst) - 1; last >= 0 && dst[last].Baselines == base &&
			dst[last].First+dst[last].Count == at+skip {
			dst[last].Count += n
		} else {
			dst = append(dst, Run{First: at + skip, Count: n, Baselines: base})
		}
		if n+skip >= 64 {
			return dst
		}
		word = word >> (skip + n) << (skip + n)
	}
	return dst
}

// sortRuns sorts runs by group: insertion, as they are few and nearly sorted.
func sortRuns(runs []Run, start int) []Run {
	for i := start + 1; i < len(runs); i++ {
		for j := i; j > start && runs[j].First < runs[j-1].First; j-- {
			runs[j], runs[j-1] = runs[j-1], runs[j]
		}
	}
	return runs
}

// setRange sets the bits first to end-1.
func setRange(words []uint64, first, end int) {
	for i := first >> 6; i <= (end-1)>>6; i++ {
		m := ^uint64(0)
		if i == first>>6 {
			m <<= first & 63
		}
		if i == (end-1)>>6 {
			m &= ^uint64(0) >> (63 - (end-1)&63)
		}
		words[i] |= m
	}
}

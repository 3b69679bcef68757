package rows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
)

// ErrModel says that bytes are no model; the error that wraps it says what is wrong.
var ErrModel = errors.New("rows: not a usable model")

const magic = "TKR2"

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// Append writes the model as a file. Numbers are uvarints, signed ones zigzag; lists begin with their length:
//
//	4  magic       "TKR2"
//	   schema      interval, fields: name, kind, modulus
//	   order       fields as they are told, and of how many each group consists
//	   predictors  by field: terms (source, weight), pull
//	   mixers      of resting rows, by group, then by field: features, slots, weights (runs of zeros, then a weight)
//	   trees       by group, then by field: forks, codes (lengths as package huffman packs them)
//	   calm        the tree of rows' expectations, a flag a leaf, the codes of calm and resting batches
//	4  checksum    CRC-32C of all before, little-endian
func (m *Model) Append(dst []byte) []byte {
	start := len(dst)
	w := writer{append(dst, magic...)}
	w.number(uint64(m.schema.Interval))
	w.number(uint64(len(m.schema.Fields)))
	for _, f := range m.schema.Fields {
		w.number(uint64(len(f.Name)))
		w.dst = append(w.dst, f.Name...)
		w.number(uint64(f.Kind))
		w.number(uint64(f.Mod))
	}
	for _, f := range m.order {
		w.number(uint64(f))
	}
	w.number(uint64(len(m.groups)))
	for _, g := range m.groups {
		w.number(uint64(g.count))
	}
	for i := range m.predictors {
		p := &m.predictors[i]
		w.number(uint64(len(p.terms)))
		for _, t := range p.terms {
			w.dst = append(w.dst, byte(t.op), t.a, t.b, t.c)
			w.signed(int64(t.weight))
		}
		w.signed(int64(p.pull))
	}
	w.mixer(&m.wake)
	for u := range m.groups {
		w.mixer(&m.groups[u].any)
	}
	for f := range m.mixers {
		w.mixer(&m.mixers[f])
	}
	for u := range m.groups {
		w.tree(&m.groups[u].mask)
	}
	for f := range m.trees {
		w.tree(&m.trees[f])
	}
	w.tree(&m.quiet)
	w.number(uint64(len(m.calm)))
	for _, calm := range m.calm {
		if calm {
			w.number(1)
		} else {
			w.number(0)
		}
	}
	for _, t := range append(m.batches[:], m.rests[:]...) {
		w.dst = huffman.AppendLengths(w.dst, t.Lengths(nil))
	}
	return seal(w.dst, start)
}

// seal appends the checksum of what stands in dst from start on.
func seal(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], crcTable))
}

type writer struct{ dst []byte }

func (w *writer) number(v uint64) { w.dst = binary.AppendUvarint(w.dst, v) }
func (w *writer) signed(v int64)  { w.dst = binary.AppendVarint(w.dst, v) }

func (w *writer) feature(x feature) { w.dst = append(w.dst, byte(x.op), x.a, x.b, x.c) }

func (w *writer) mixer(m *mixer) {
	w.number(uint64(len(m.asks)))
	for _, x := range m.asks {
		w.feature(x)
	}
	w.number(uint64(len(m.slots)))
	for _, s := range m.slots {
		w.dst = append(w.dst, s.a, s.b)
	}
	zeros := uint64(0)
	for _, v := range m.weights {
		if v == 0 {
			zeros++
			continue
		}
		w.number(zeros)
		w.signed(int64(v))
		zeros = 0
	}
	w.number(zeros)
}

func (w *writer) tree(t *tree) {
	w.number(uint64(len(t.forks)))
	for _, f := range t.forks {
		w.feature(f.ask)
		w.number(uint64(f.ones))
		w.signed(int64(f.next[0]))
		w.signed(int64(f.next[1]))
	}
	w.number(uint64(len(t.leaves)))
	for _, leaf := range t.leaves {
		w.dst = huffman.AppendLengths(w.dst, leaf.Lengths(nil))
	}
}

// ParseModel reads a file of exactly one model. Errors wrap ErrModel. What it makes is a few times the file's size at
// most, but for the tables of mixers, which are bounded by the number of fields: 64 of them take 40 MB.
func ParseModel(src []byte) (*Model, error) {
	if len(src) < len(magic)+4 || string(src[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: %d bytes that do not begin with %q", ErrModel, len(src), magic)
	}
	body, sum := src[:len(src)-4], binary.LittleEndian.Uint32(src[len(src)-4:])
	if got := crc32.Checksum(body, crcTable); got != sum {
		return nil, fmt.Errorf("%w: checksum %08x, want %08x: damaged or cut short", ErrModel, got, sum)
	}
	r := reader{src: body, at: len(magic)}
	m := r.model()
	if r.err == nil && r.at != len(body) {
		r.fail("bytes behind the end")
	}
	if r.err != nil {
		return nil, r.err
	}
	m.number()
	return m, nil
}

// reader takes a model apart. The first thing that is wrong stays in err, and from then on all numbers are 0.
type reader struct {
	src    []byte
	at     int
	fields []Field
	err    error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: byte %d: %s", ErrModel, r.at, fmt.Sprintf(format, args...))
	}
}

// number reads a number below limit.
func (r *reader) number(what string, limit uint64) int {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.src[r.at:])
	if n <= 0 || v >= limit {
		r.fail("%s is %d, expected a number below %d", what, v, limit)
		return 0
	}
	r.at += n
	return int(v)
}

// signed reads a number of at most so many bits and a sign.
func (r *reader) signed(what string, most int) int64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Varint(r.src[r.at:])
	if n <= 0 || bits.Len64(uint64(max(v, -v))) > most {
		r.fail("%s is %d, expected a number of %d bits", what, v, most)
		return 0
	}
	r.at += n
	return v
}

func (r *reader) bytes(what string, n int) []byte {
	if r.err != nil || n > len(r.src)-r.at {
		r.fail("%s is cut short", what)
		return make([]byte, min(n, 256))
	}
	r.at += n
	return r.src[r.at-n : r.at]
}

func (r *reader) model() *Model {
	m := &Model{}
	m.schema.Interval = int32(r.number("the interval", 1<<31))
	for range r.number("the number of fields", MaxFields+1) {
		name := string(r.bytes("a field's name", r.number("the length of a name", 256)))
		kind, mod := r.number("a field's kind", uint64(Stamp)+1), r.number("a field's modulus", MaxMod+1)
		m.schema.Fields = append(m.schema.Fields, Field{name, Kind(kind), int32(mod)})
	}
	if err := m.schema.Check(); r.err == nil && err != nil {
		r.fail("%v", err)
	}
	if r.err != nil {
		return nil
	}
	r.fields = m.schema.Fields
	n := len(r.fields)
	seen := uint64(0)
	for range n {
		f := r.number("a field of the order", uint64(n))
		seen |= 1 << f
		m.order = append(m.order, f)
	}
	if bits.OnesCount64(seen) != n {
		r.fail("the order lacks fields")
	}
	left := n
	for range r.number("the number of groups", 32) {
		k := r.number("the size of a group", maxGroup+1)
		m.groups = append(m.groups, group{first: n - left, count: k})
		if left -= k; k == 0 || left < 0 {
			r.fail("%d fields in a group, expected 1 to those left", k)
		}
	}
	if left != 0 {
		r.fail("%d fields are in no group", left)
	}
	if r.err != nil {
		return nil
	}
	r.parts(m)
	return m
}

// parts reads what there is by field and by group.
func (r *reader) parts(m *Model) {
	n := len(r.fields)
	m.predictors, m.mixers, m.trees = make([]predictor, n), make([]mixer, n), make([]tree, n)
	for f := range n {
		m.predictors[f] = r.predictor(f)
		m.pulls = m.pulls || m.predictors[f].pull != 0
	}
	m.wake = r.mixer(1)
	for u := range m.groups {
		m.groups[u].any = r.mixer(1)
	}
	for f := range n {
		m.mixers[f] = r.mixer(nodeCount)
	}
	for u := range m.groups {
		m.groups[u].mask = r.tree(1<<m.groups[u].count, true)
	}
	for f := range n {
		m.trees[f] = r.tree(errorSymbols, true)
	}
	m.quiet = r.tree(0, false)
	k := r.number("the number of calm leaves", treeLeaves+1)
	if k != len(m.quiet.forks)+1 {
		r.fail("%d calm leaves for %d forks", k, len(m.quiet.forks))
	}
	for range k {
		m.calm = append(m.calm, r.number("whether a leaf is calm", 2) == 1)
	}
	for i := range m.batches {
		m.batches[i] = r.table(1 << blockRows)
	}
	for i := range m.rests {
		m.rests[i] = r.table(1 << blockRows)
	}
}

func (r *reader) predictor(target int) (p predictor) {
	for range r.number("the number of terms", maxTerms+1) {
		b := r.bytes("a source", 4)
		s := source{sourceOp(b[0]), b[1], b[2], b[3]}
		if r.err == nil && !s.fits(r.fields, target) {
			r.fail("source %v makes no sense for field %d", s, target)
		}
		p.terms = append(p.terms, term{s, int32(r.signed("a weight", 24))})
	}
	p.pull = int32(r.signed("a pull", 24))
	return p
}

// fits reports whether the source can be worked out for a target of these fields.
func (s source) fits(fields []Field, target int) bool {
	n := len(fields)
	field := func(f uint8) bool { return int(f) < n }
	angle := func(f uint8) bool { return field(f) && fields[f].Kind == Angle }
	switch s.op {
	case srcTrend, srcBend:
		return field(s.a) && int(s.b) < nLags && int(s.c) < nLags
	case srcHeld, srcMoved, srcFresh, srcSame, srcNear:
		return field(s.a)
	case srcApart:
		return field(s.a) && field(s.b)
	case srcCourse, srcCourseNear:
		return field(s.a) && field(s.b) && angle(uint8(target))
	case srcAlong, srcAcross, srcWasAlong, srcWasAcross:
		return field(s.a) && field(s.b) && angle(s.c)
	case srcSwing, srcSwung, srcBow:
		return field(s.a) && angle(s.b)
	default:
		return s.op < srcOps
	}
}

func (r *reader) feature() feature {
	b := r.bytes("a feature", 4)
	x := feature{op: featureOp(b[0]), a: b[1], b: b[2], c: b[3]}
	if r.err == nil && (x.op >= featOps || int(x.a) >= len(r.fields) || int(x.b) >= nLags || int(x.c) >= nLags) {
		r.fail("feature %v makes no sense", x)
	}
	return x
}

func (r *reader) mixer(nodes int) mixer {
	var asks []feature
	for range r.number("the number of features", maxSlots+1) {
		asks = append(asks, r.feature())
	}
	var slots []slot
	for range r.number("the number of slots", maxSlots+1) {
		b := r.bytes("a slot", 2)
		if r.err == nil && (int(b[0]) >= len(asks) || b[1] != pairless && int(b[1]) >= len(asks)) {
			r.fail("slot of features %d and %d, expected them below %d", b[0], b[1], len(asks))
		}
		slots = append(slots, slot{a: b[0], b: b[1]})
	}
	if r.err != nil {
		return mixer{}
	}
	m := newMixer(asks, slots)(nodes)
	for at := 0; at < len(m.weights); at++ {
		if at += r.number("a run of zeros", uint64(len(m.weights)-at)+1); at < len(m.weights) {
			m.weights[at] = int16(r.signed("a weight", 15))
		} else {
			return m
		}
	}
	r.number("the last run of zeros", 1)
	return m
}

func (r *reader) tree(symbols int, codes bool) (t tree) {
	n := r.number("the number of forks", treeLeaves)
	for i := range n {
		f := fork{ask: r.feature(), ones: uint16(r.number("a fork's cut", 1<<states))}
		for way := range f.next {
			next := r.signed("a fork's way", 15)
			if next >= 0 && (next <= int64(i) || next >= int64(n)) || ^next > int64(n) {
				r.fail("fork %d leads to %d: expected a later fork or one of %d leaves", i, next, n+1)
				return t
			}
			f.next[way] = int16(next)
		}
		t.forks = append(t.forks, f)
	}
	if k := r.number("the number of codes", treeLeaves+1); codes && k != n+1 || !codes && k != 0 {
		r.fail("%d codes for %d forks", k, n)
	}
	for range n + 1 {
		if codes && r.err == nil {
			t.leaves = append(t.leaves, r.table(symbols))
		}
	}
	return t
}

// table reads a code in which each of so many symbols has one.
func (r *reader) table(symbols int) *huffman.Table {
	if r.err != nil {
		return nil
	}
	lengths, rest, err := huffman.ParseLengths(r.src[r.at:])
	if err != nil || len(lengths) != symbols {
		r.fail("a code of %d symbols, expected %d: %v", len(lengths), symbols, err)
		return nil
	}
	for sym, n := range lengths {
		if n == 0 {
			r.fail("symbol %d has no code", sym)
			return nil
		}
	}
	t, err := huffman.FromLengths(lengths)
	if err != nil {
		r.fail("%v", err)
		return nil
	}
	r.at = len(r.src) - len(rest)
	return t
}

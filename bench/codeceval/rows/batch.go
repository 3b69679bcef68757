package rows

// lanes is how many rows a batch has at most.
const lanes = 64

// column is one number of every row of a batch.
type column [lanes]int32

// batch is a number of rows on their way through a coder side by side, so that what is to be done
// is decided once for all of them: row is its slow twin. What it says of one row never depends on
// another.
type batch struct {
	n     int          // rows
	at    [lanes]int32 // where each begins in a frame
	past  [nLags][]int32
	now   int32
	held  [nLags][]column // by lag, by field: as they were
	have  [nLags]uint64   // bit f: held has field f
	fresh []column        // by field told already: as it is
	moved []column        // by field told already: fresh less held
	wrong []column        // by field told already: fresh less its prediction
	step  []column        // by field predicted already: prediction less held
	guess column          // of the field under way
	entry [lanes]uint32   // bit u: group u of the row had a wrong field
	sum   [lanes]int64
}

func newBatch(fields int) *batch {
	b := &batch{fresh: make([]column, fields), moved: make([]column, fields), wrong: make([]column, fields), step: make([]column, fields)}
	for lag := range b.held {
		b.held[lag] = make([]column, fields)
	}
	return b
}

// begin empties the batch.
func (b *batch) begin(p *Past) {
	b.n, b.now = 0, p.Now
	for i, lag := range lags {
		if b.past[i] = nil; len(p.Frames) > 0 {
			b.past[i] = p.Frames[min(lag, len(p.Frames)-1)]
		}
	}
}

// add takes up the row that begins at at of a frame, and reports whether the batch is full.
func (b *batch) add(at int) bool {
	b.at[b.n&(lanes-1)] = int32(at)
	b.n++
	return b.n == lanes
}

// start forgets what was known of rows that were in the batch before.
func (b *batch) start() {
	clear(b.have[:])
	clear(b.entry[:])
}

// was returns field f as it was.
func (b *batch) was(lag, f int) *column {
	col := &b.held[lag][f]
	if b.have[lag]>>f&1 == 0 {
		b.have[lag] |= 1 << f
		frame := b.past[lag]
		if frame == nil {
			clear(col[:])
			return col
		}
		frame = frame[f:]
		for i, at := range b.at[:b.n] {
			col[i] = frame[at]
		}
	}
	return col
}

// rests reports whether the row that begins at at of a frame rests: row.rests is its twin.
func (b *batch) rests(at, fields int) bool {
	if b.past[0] == nil {
		return true
	}
	first := b.past[0][at:][:fields]
	for _, i := range restLags {
		other := b.past[i][at:][:fields]
		for f, v := range first {
			if other[f] != v {
				return false
			}
		}
	}
	return true
}

// predict fills guess and step for field f of all rows.
func (b *batch) predict(p *predictor, mods []int32, f int) {
	held, step, mod := b.was(0, f), &b.step[f], mods[f]
	n := b.n
	if len(p.terms) == 0 {
		b.guess = *held
		if mod != 0 {
			for i, v := range held[:n] {
				b.guess[i] = around(v, mod)
				step[i] = away(b.guess[i], v, mod)
			}
			return
		}
		clear(step[:n])
		return
	}
	clear(b.sum[:n])
	for _, t := range p.terms {
		t.add(b, mods, f)
	}
	if mod == 0 {
		for i, sum := range b.sum[:n] {
			d := int32((sum + 1<<(weightBits-1)) >> weightBits)
			b.guess[i], step[i] = held[i]+d, d
		}
		return
	}
	for i, sum := range b.sum[:n] {
		v := settle(held[i], sum, mod)
		b.guess[i], step[i] = v, away(v, held[i], mod)
	}
}

// tell notes what field f turned out to be, which is in fresh, as far as somebody will ask.
func (b *batch) tell(how asked, mod int32, f int) {
	fresh := &b.fresh[f]
	if how.moved {
		moved, held := &b.moved[f], b.was(0, f)
		for i, v := range fresh[:b.n] {
			moved[i] = away(v, held[i], mod)
		}
	}
	if how.wrong {
		wrong := &b.wrong[f]
		for i, v := range fresh[:b.n] {
			wrong[i] = away(v, b.guess[i], mod)
		}
	}
}

// add adds the term to the sums of all rows: source.value tells what each is.
func (t term) add(b *batch, mods []int32, target int) {
	x, y, mod := int(t.a), int(t.b), int32(0)
	sum, w := b.sum[:b.n], int64(t.weight)
	switch t.op {
	case srcTrend:
		p, q := b.was(y, x), b.was(int(t.c), x)
		if mod = mods[x]; mod == 0 {
			for i := range sum {
				sum[i] += int64(p[i]-q[i]) * w
			}
			return
		}
		for i := range sum {
			sum[i] += int64(turn(p[i]-q[i], mod)) * w
		}
	case srcBend:
		o, p, q := b.was(0, x), b.was(y, x), b.was(int(t.c), x)
		mod = mods[x]
		for i := range sum {
			sum[i] += int64(away(away(o[i], p[i], mod), away(p[i], q[i], mod), mod)) * w
		}
	case srcHeld:
		addColumn(sum, b.was(0, x), w)
	case srcMoved:
		addColumn(sum, &b.moved[x], w)
	case srcFresh:
		addColumn(sum, &b.fresh[x], w)
	case srcSame, srcNear:
		p, held := &b.fresh[x], b.was(0, target)
		from, to := mods[x], mods[target]
		for i := range sum {
			sum[i] += int64(away(rescale(p[i], from, to, t.op == srcNear), held[i], to)) * w
		}
	case srcApart:
		p, q, held := &b.fresh[x], &b.fresh[y], b.was(0, target)
		to := mods[target]
		for i := range sum {
			v := rescale(p[i], mods[x], to, false) - rescale(q[i], mods[y], to, false)
			sum[i] += int64(away(v, held[i], to)) * w
		}
	case srcCourse, srcCourseNear:
		p, q, held := &b.fresh[x], &b.fresh[y], b.was(0, target)
		for i := range sum {
			sum[i] += int64(away(course(p[i], q[i], mods[target], t.op == srcCourseNear), held[i], mods[target])) * w
		}
	case srcAlong, srcAcross, srcWasAlong, srcWasAcross:
		p, q, angle := &b.fresh[x], &b.fresh[y], &b.fresh[t.c]
		if t.op == srcWasAlong || t.op == srcWasAcross {
			p, q, angle = b.was(0, x), b.was(0, y), b.was(0, int(t.c))
		}
		across := t.op == srcAcross || t.op == srcWasAcross
		for i := range sum {
			sum[i] += int64(project(p[i], q[i], units(angle[i], mods[t.c]), across)) * w
		}
	case srcSwing, srcSwung, srcBow:
		p, q, by := b.was(0, x), b.was(1, x), &b.moved[y]
		o, u := b.was(0, y), b.was(2, y)
		for i := range sum {
			d := by[i]
			if t.op == srcSwung {
				d = away(o[i], u[i], mods[y])
			}
			sum[i] += int64(swing(away(p[i], q[i], mods[x]), units(d, mods[y]), t.op == srcBow)) * w
		}
	case srcAge:
		held := b.was(0, target)
		for i := range sum {
			sum[i] += int64(b.now-held[i]) * w
		}
	default:
		for i := range sum {
			sum[i] += w
		}
	}
}

func addColumn(sum []int64, col *column, w int64) {
	for i := range sum {
		sum[i] += int64(col[i]) * w
	}
}

// load takes field f of all rows from a frame.
func (b *batch) load(f int, frame []int32) {
	fresh := &b.fresh[f]
	frame = frame[f:]
	for i, at := range b.at[:b.n] {
		fresh[i] = frame[at]
	}
}

// store puts field f of all rows into a frame.
func (b *batch) store(f int, frame []int32) {
	fresh := &b.fresh[f]
	frame = frame[f:]
	for i, at := range b.at[:b.n] {
		frame[at] = fresh[i]
	}
}

// misses tells field f by its distance from the prediction, and sets bit k of the masks of rows
// where there is one.
func (b *batch) misses(mod int32, f int, missed *[lanes]int64, masks *[lanes]uint32, k int) {
	fresh := &b.fresh[f]
	if mod == 0 {
		for i, v := range fresh[:b.n] {
			d := v - b.guess[i]
			missed[i] = int64(d)
			masks[i] |= differ(d, 0) << k
		}
		return
	}
	for i, v := range fresh[:b.n] {
		d := miss(v, b.guess[i], mod)
		missed[i] = d
		masks[i] |= uint32(uint64(d|-d)>>63) << k
	}
}

// changed reports whether the row that begins at at of a frame is not what it was.
func (b *batch) changed(frame []int32, at, fields int) bool {
	for f, v := range frame[at:][:fields] {
		if was := b.past[0]; was == nil && v != 0 || was != nil && was[at+f] != v {
			return true
		}
	}
	return false
}

// keep puts the row that begins at at of a frame back to what it was.
func (b *batch) keep(frame []int32, at, fields int) {
	if b.past[0] == nil {
		clear(frame[at:][:fields])
		return
	}
	copy(frame[at:][:fields], b.past[0][at:])
}

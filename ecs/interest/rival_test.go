package interest

// rival is the rival of BenchmarkSnapshot: one client's interest as one would ship it first. A loop
// over all rows compares squared distances in cells and adds to a priority. It uses slices, not maps,
// and allocates nothing; rows that have gone are left out by their id of zero.
type rival struct {
	cfg    Config
	left   []uint8  // by slot: snapshots for which the row stays visible
	weight []uint16 // by slot: priority, 0 where the row is not visible
}

func newRival(c Config) *rival {
	c = c.withDefaults()
	return &rival{cfg: c, left: make([]uint8, c.Slots), weight: make([]uint16, c.Slots)}
}

// rivalRow is what the loop reads of a row: its cell, made once a tick for all clients.
type rivalRow struct {
	column, row int32
	team        uint8
	combat      bool
	gone        bool
}

// rivalRows fills the rows of a tick.
func rivalRows(rows []rivalRow, g *Grid, sc *scene) []rivalRow {
	rows = rows[:0]
	for slot, id := range sc.ids {
		cell := g.Cell(sc.x[slot], sc.z[slot])
		rows = append(rows, rivalRow{int32(cell % g.cfg.Wide), int32(cell / g.cfg.Wide), sc.team[slot],
			has(sc.combat, slot), id == 0})
	}
	return rows
}

// update renews visibility and priority of all rows for one client.
func (r *rival) update(rows []rivalRow, v Viewer) {
	w, from := r.cfg.Weights, rows[v.Slot]
	far, mid, near := int32(r.cfg.ViewDistance), int32(r.cfg.Mid), int32(r.cfg.Near)
	for slot := range rows {
		to := &rows[slot]
		dx, dz := to.column-from.column, to.row-from.row
		d := dx*dx + dz*dz
		inSight := !to.gone && (d <= far*far || slot == v.Slot)
		switch {
		case inSight:
			r.left[slot] = uint8(r.cfg.Hysteresis)
		case r.left[slot] > 0 && !to.gone:
			r.left[slot]--
		case to.gone || v.Team == 0 || v.Team != to.team:
			r.left[slot], r.weight[slot] = 0, 0
			continue
		}
		gain := w.Visible
		if d <= mid*mid {
			gain += w.Mid
		}
		if d <= near*near {
			gain += w.Near
		}
		if float32(dx)*v.DirX+float32(dz)*v.DirZ > 0 {
			gain += w.Ahead
		}
		if to.combat {
			gain += w.Combat
		}
		if r.weight[slot] == 0 {
			gain += w.New
		}
		r.weight[slot] = min(r.weight[slot]+gain, maxPriority)
	}
}

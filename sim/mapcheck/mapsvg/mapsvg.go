// Package mapsvg draws a map from above as an SVG: solids shaded by height, spawn points by team,
// what stands on the map, and the problems of a mapcheck.Report. A map and its report go in, text
// comes out. Any goroutine may call it.
package mapsvg

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mapcheck"
)

// Sizes of the page, in pixels.
const (
	longSide = 960 // of the map
	margin   = 20
	head     = 64
	foot     = 56
)

// style colours by class, with a second set for dark pages. Solids have a grey of their own each.
const style = `<style>.paper{fill:#fff}.ground{fill:#f6f8fa;stroke:#d0d7de}.title{fill:#1f2328;` +
	`font-size:19px;font-weight:600}.s{fill:#57606a;font-size:13px}.solid{stroke:#57606a;stroke-width:.5}` +
	`.rise{stroke:#8250df;fill:none}.home,.area{fill-opacity:.12;stroke-dasharray:4 3}.t0{fill:#0969da;` +
	`stroke:#0969da}.t1{fill:#bc4c00;stroke:#bc4c00}.spawn path{stroke-width:1.5}` +
	`.point{fill:none;stroke:#8250df;stroke-width:2}.name{fill:#8250df;font-size:13px;font-weight:600}` +
	`.barrel{fill:#9a6700}.cube{fill:#116329}.port{fill:#1b7c83;fill-opacity:.25;stroke:#1b7c83}` +
	`.object{fill:#6639ba}.mover{fill:#bf3989;fill-opacity:.35;stroke:#bf3989}` +
	`.travel{fill:none;stroke:#bf3989;stroke-dasharray:3 3}.field{fill:#cf222e;fill-opacity:.15}.top{fill:#8c959f;fill-opacity:.35}` +
	`.closed{fill:#cf222e;fill-opacity:.35}.problem{fill:none;stroke:#cf222e;stroke-width:2.5}` +
	`@media(prefers-color-scheme:dark){.paper{fill:#0d1117}.ground{fill:#161b22;stroke:#30363d}` +
	`.title{fill:#e6edf3}.s{fill:#9da7b1}}</style>`

// Map is what a drawing shows.
type Map struct {
	Arena  *arena.Arena
	Placed *content.Map     // what stands in the arena; nil: nothing
	Zone   float32          // radius of a capture point, metres
	Report *mapcheck.Report // problems to mark; nil: none
}

// Append appends the drawing of a map to dst: x to the right, z upwards. The map is at most 960
// pixels wide and high.
func Append(dst []byte, c Map) []byte {
	a, m, r := c.Arena, c.Placed, c.Report
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	d := drawing{a: a, scale: longSide / max(size.X, size.Z)}
	wide, high := float32(size.X*d.scale)+2*margin, float32(size.Z*d.scale)+head+foot
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-sans-serif,system-ui,sans-serif" role="img" aria-label="Map %s">`+"\n%s\n", wide, high,
		html.EscapeString(a.Name), style)
	fmt.Fprintf(&d.b, `<rect class="paper" width="%.0f" height="%.0f"/>`+"\n", wide, high)
	d.rect("ground", a.Bounds.Min, a.Bounds.Max, "")
	d.solids()
	if r != nil {
		d.regions("top", r.Tops, r.Square)
		d.regions("closed", r.Closed, r.Square)
	}
	d.movers()
	if m != nil {
		d.things(m, c.Zone)
	}
	d.spawns()
	if r != nil {
		d.problems(r)
	}
	d.captions(r, high)
	d.b.WriteString("</svg>\n")
	return append(dst, d.b.String()...)
}

// drawing is an SVG that is being written.
type drawing struct {
	b     strings.Builder
	a     *arena.Arena
	scale float32 // pixels a metre
}

// at projects a point to pixels of the page, y down.
func (d *drawing) at(p geom.Vec3) (x, y float32) {
	return margin + float32((p.X-d.a.Bounds.Min.X)*d.scale), head + float32((d.a.Bounds.Max.Z-p.Z)*d.scale)
}

// rect draws a box from above. title is shown by browsers under the pointer, "" for none.
func (d *drawing) rect(class string, lo, hi geom.Vec3, title string) {
	x0, y1 := d.at(lo)
	x1, y0 := d.at(hi)
	fmt.Fprintf(&d.b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f">%s</rect>`+"\n", class, x0,
		y0, x1-x0, y1-y0, titleOf(title))
}

func titleOf(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + html.EscapeString(text) + "</title>"
}

// solids draws from below to above, so that what is high covers what is low.
func (d *drawing) solids() {
	all := slices.Clone(d.a.Solids)
	slices.SortStableFunc(all, func(x, y arena.Solid) int {
		switch {
		case x.Max.Y < y.Max.Y:
			return -1
		case x.Max.Y > y.Max.Y:
			return 1
		}
		return 0
	})
	low, high := d.heights()
	for i := range all {
		s := &all[i]
		if s.Pass != 0 {
			d.rect(fmt.Sprintf("area t%d", s.Pass>>1), s.Min, s.Max, "area of one team")
			continue
		}
		grey := 235 - int(180*(s.Max.Y-low)/(high-low))
		x0, y1 := d.at(s.Min)
		x1, y0 := d.at(s.Max)
		fmt.Fprintf(&d.b, `<rect class="solid" fill="#%02x%02x%02x" x="%.2f" y="%.2f" width="%.2f" `+
			`height="%.2f"><title>top at %g m</title></rect>`+"\n", grey, grey, grey, x0, y0, x1-x0, y1-y0, s.Max.Y)
		d.rise(s)
	}
}

// heights is the span of the tops of the solids, of at least a metre.
func (d *drawing) heights() (low, high float32) {
	for i := range d.a.Solids {
		top := d.a.Solids[i].Max.Y
		if i == 0 {
			low, high = top, top
		}
		low, high = min(low, top), max(high, top)
	}
	return low, max(high, low+1)
}

// rise draws an arrow up a ramp.
func (d *drawing) rise(s *arena.Solid) {
	mid := s.Min.Lerp(s.Max, 0.5)
	from, to := mid, mid
	switch s.Shape {
	case arena.RampPosX:
		from.X, to.X = s.Min.X, s.Max.X
	case arena.RampNegX:
		from.X, to.X = s.Max.X, s.Min.X
	case arena.RampPosZ:
		from.Z, to.Z = s.Min.Z, s.Max.Z
	case arena.RampNegZ:
		from.Z, to.Z = s.Max.Z, s.Min.Z
	default:
		return
	}
	x0, y0 := d.at(from)
	x1, y1 := d.at(to)
	fmt.Fprintf(&d.b, `<path class="rise" d="M%.2f %.2fL%.2f %.2f"/><circle class="rise" cx="%.2f" cy="%.2f" `+
		`r="2"/>`+"\n", x0, y0, x1, y1, x1, y1)
}

// movers draws movers at their first end, with the ground of their travel.
func (d *drawing) movers() {
	for i := range d.a.Movers {
		m := &d.a.Movers[i]
		h := m.Hull()
		d.rect("travel", h.Min, h.Max, "")
		d.rect("mover", m.Min, m.Max, fmt.Sprintf("movers[%d]: travels %g %g %g m in %g s, top at %g m", i,
			m.Travel.X, m.Travel.Y, m.Travel.Z, float32(m.TravelMillis)/1000, m.Max.Y))
	}
}

// spawns draws a dot at each spawn point, with a line to where the player looks.
func (d *drawing) spawns() {
	for i, s := range d.a.Spawns {
		x, y := d.at(s.Pos)
		x1, y1 := d.at(s.Pos.Mad(geom.Forward(s.Yaw, 0), 1.2))
		fmt.Fprintf(&d.b, `<g class="spawn t%d"><title>spawns[%d], team %d</title><circle cx="%.2f" cy="%.2f" `+
			`r="%.2f"/><path d="M%.2f %.2fL%.2f %.2f"/></g>`+"\n", s.Team, i, s.Team, x, y,
			max(float32(0.4*d.scale), 2), x, y, x1, y1)
	}
}

// regions shades ground that players do not reach.
func (d *drawing) regions(class string, all []mapcheck.Region, square float32) {
	to := float32(square * 0.5)
	half := geom.Vec3{X: to, Z: to}
	for _, r := range all {
		for _, at := range r.Squares {
			d.rect(class, at.Sub(half), at.Add(half), "")
		}
	}
}

// problems marks each problem with a ring; its text is the title. Problems of the map as a whole
// stand above it.
func (d *drawing) problems(r *mapcheck.Report) {
	for _, p := range r.Problems {
		if p.Kind == mapcheck.SpawnMissing {
			continue
		}
		x, y := d.at(p.At)
		fmt.Fprintf(&d.b, `<g class="problem">%s<circle cx="%.2f" cy="%.2f" r="9"/><path d="M%.2f %.2fl10 `+
			`10m0 -10l-10 10"/></g>`+"\n", titleOf(p.String()), x, y, x-5, y-5)
	}
}

// captions writes the name, the number of problems, a ruler of 10 m, and what the colours are.
func (d *drawing) captions(r *mapcheck.Report, high float32) {
	size := d.a.Bounds.Max.Sub(d.a.Bounds.Min)
	fmt.Fprintf(&d.b, `<text class="title" x="%d" y="28">%s</text><text class="s" x="%d" y="50">%g x %g m, %d `+
		`solids, %d spawn points`, margin, html.EscapeString(d.a.Name), margin, size.X, size.Z,
		len(d.a.Solids), len(d.a.Spawns))
	if r != nil {
		fmt.Fprintf(&d.b, `, %d problems`, len(r.Problems))
		for _, p := range r.Problems {
			if p.Kind == mapcheck.SpawnMissing {
				d.b.WriteString("; " + html.EscapeString(p.Text))
			}
		}
	}
	low, top := d.heights()
	fmt.Fprintf(&d.b, `</text><path class="rise" d="M%d %.0fv6h%.2fv-6"/><text class="s" x="%.2f" y="%.0f">10 m; `+
		`tops from %g m (light) to %g m (dark); blue: team 0, orange: team 1</text>`+"\n", margin, high-40,
		float32(10*d.scale), margin+float32(10*d.scale)+8, high-34, low, top)
	fmt.Fprintf(&d.b, `<text class="s" x="%d" y="%.0f">grey: tops that players only fall from; red: enclosed `+
		`ground and problems</text>`+"\n", margin, high-12)
}

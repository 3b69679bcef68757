// Package shotsvg draws one shot as an SVG, from its record alone: what the shooter looked at,
// where the target was judged to be and where it was by then. A shot record goes in, text comes
// out. Any goroutine may call it.
package shotsvg

import (
	"fmt"
	"math"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Sizes in pixels.
const (
	panelWide = 320
	panelHigh = 380
	margin    = 20
	head      = 74 // above the panels
	foot      = 128
	width     = 3*panelWide + 4*margin
	height    = head + panelHigh + foot
)

// Append appends the drawing of a shot, an SVG of 1040 by 582 pixels, to dst. name, if not nil,
// returns the text for a player's net id; it is escaped. Poses far from the shot, or with a NaN,
// are left out.
func Append(dst []byte, r *lagcomp.ShotRecord, name func(id uint32) string) []byte {
	if name == nil {
		name = func(id uint32) string { return fmt.Sprint(id) }
	}
	d := drawing{r: r}
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`font-family="ui-sans-serif,system-ui,sans-serif" role="img" aria-label="Shot %d">`+"\n%s\n",
		width, height, r.Number, style)
	fmt.Fprintf(&d.b, `<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	d.title(name)
	d.bodies()
	for i, p := range d.planes() {
		d.panel(i, &p)
	}
	d.legend()
	d.facts()
	d.b.WriteString("</svg>\n")
	return append(dst, d.b.String()...)
}

// style colours the bodies by class: seen blue, rewound green, present grey; the bone that decides
// is red. A second set of colours is for dark pages.
const style = `<style>.paper{fill:#fff}.frame{fill:#f6f8fa;stroke:#d0d7de}` +
	`.t{fill:#1f2328;font-size:19px;font-weight:600}.s{fill:#57606a;font-size:13px}` +
	`.m{fill:#1f2328;font-size:13px;font-family:ui-monospace,monospace}` +
	`.c{fill:#1f2328;font-size:13px;font-weight:600}.edge,.skin{fill:none;stroke-linecap:round}` +
	`.seen .edge{stroke:#0969da}.seen .skin{stroke:#f6f8fa}.rewound .edge{stroke:#116329}` +
	`.rewound .skin{stroke:#aceebb}` +
	`.present .edge{stroke:#8c959f}.present .skin{stroke:#eaeef2}.rewound .bone{stroke:#ff8182}` +
	`.ray{stroke:#cf222e;stroke-width:1.6;fill:none}.past{stroke-dasharray:4 4;opacity:.6}` +
	`.dot{fill:#cf222e;stroke:#fff}` +
	`.normal{stroke:#8250df;stroke-width:2;fill:none}.gap{stroke:#bc4c00;stroke-width:2;fill:none}` +
	`.ground{stroke:#afb8c1;stroke-width:1;fill:none}` +
	`@media(prefers-color-scheme:dark){.paper{fill:#0d1117}.frame{fill:#161b22;stroke:#30363d}` +
	`.t,.c,.m{fill:#e6edf3}.s{fill:#9da7b1}.seen .edge{stroke:#58a6ff}.seen .skin{stroke:#161b22}` +
	`.rewound .edge{stroke:#3fb950}.rewound .skin{stroke:#12411f}` +
	`.present .edge{stroke:#6e7681}.present .skin{stroke:#21262d}.rewound .bone{stroke:#a40e26}` +
	`.ray{stroke:#ff7b72}.dot{fill:#ff7b72;stroke:#0d1117}.normal{stroke:#bc8cff}` +
	`.gap{stroke:#f0883e}.ground{stroke:#484f58}}</style>`

// drawing is an SVG that is being written.
type drawing struct {
	b     strings.Builder
	r     *lagcomp.ShotRecord
	poses [3]posedBody // present, seen, rewound: in the order in which they are painted
}

// posedBody is one pose of the subject.
type posedBody struct {
	class string // of the style sheet: present, seen or rewound
	shown bool   // the record has the pose, and it is near the shot
	body  rig.Body
}

// bodies computes the capsules of the poses that the record has.
func (d *drawing) bodies() {
	for i, f := range [3]struct {
		class string
		held  lagcomp.PoseMask
		pose  *rig.Pose
	}{{"present", lagcomp.PosePresent, &d.r.Present}, {"seen", lagcomp.PoseSeen, &d.r.Seen},
		{"rewound", lagcomp.PoseRewound, &d.r.Rewound}} {
		d.poses[i].class = f.class
		if d.poses[i].shown = d.r.Poses&f.held != 0 && d.near(f.pose.Pos); d.poses[i].shown {
			rig.Capsules(f.pose, &d.poses[i].body)
		}
	}
}

// maxDrawnMetres is the distance from the shot beyond which a pose is not drawn: a teleported
// player would shrink everything else.
const maxDrawnMetres = 12

// near reports whether a pose can be drawn with the shot, so that no NaN is ever drawn.
func (d *drawing) near(feet geom.Vec3) bool {
	r := d.r
	end := r.Ray.At(r.Distance)
	if r.Verdict == lagcomp.HitPlayer || r.Verdict == lagcomp.NotVisible {
		end = r.Point
	}
	return r.Normal.LenSq() < 2 && r.Radius >= 0 && r.Radius < maxDrawnMetres && r.Ray.Max >= 0 &&
		r.Ray.At(min(r.Ray.Max, r.Distance+4)).Sub(feet).LenSq() < 2*maxDrawnMetres*maxDrawnMetres &&
		end.Sub(feet).LenSq() < maxDrawnMetres*maxDrawnMetres &&
		r.Ray.At(r.Distance).Sub(feet).LenSq() < maxDrawnMetres*maxDrawnMetres
}

// plane is the projection of a panel: everything is laid out along right and up from a middle.
type plane struct {
	name, note string
	right, up  geom.Vec3 // unit vectors of the page's axes, in the world
	ground     bool      // the feet are on a line
	eye        bool      // the ray is a point
}

// planes are the three views: along the ray as the shooter looked, from its right side, and from
// above.
func (d *drawing) planes() [3]plane {
	dir := d.r.Ray.Dir
	if !dir.Finite() || dir.LenSq() < 1e-6 {
		dir = geom.Vec3{Z: 1}
	}
	ahead := geom.Vec3{X: dir.X, Z: dir.Z}.Normalize()
	if ahead == (geom.Vec3{}) {
		ahead = geom.Vec3{Z: 1}
	}
	right := geom.Vec3{X: ahead.Z, Z: -ahead.X}
	return [3]plane{
		{name: "along the view ray", note: "the cross is the shot", right: right,
			up: dir.Cross(right).Normalize(), eye: true},
		{name: "from the side", note: "the shot comes from the left", right: ahead, up: geom.Vec3{Y: 1},
			ground: true},
		{name: "from above", note: "the shot comes from the left", right: ahead, up: right.Scale(-1)},
	}
}

// frame is where a plane lies on the page.
type frame struct {
	*plane
	middle geom.Vec3 // point of the world at the middle of the panel
	scale  float32   // pixels a metre, at most 180
	x, y   float32   // pixels of the middle in the panel
}

// at projects a point in the world to pixels of the panel, y down.
func (f *frame) at(p geom.Vec3) (x, y float32) {
	p = p.Sub(f.middle)
	return f.x + float32(p.Dot(f.right)*f.scale), f.y - float32(p.Dot(f.up)*f.scale)
}

// fit scales a panel so that all bodies and the decisive point are inside. ok is false without a
// body to draw.
func (d *drawing) fit(p *plane) (f frame, ok bool) {
	f.plane = p
	lo, hi := [2]float32{math.MaxFloat32, math.MaxFloat32}, [2]float32{-math.MaxFloat32, -math.MaxFloat32}
	grow := func(at geom.Vec3, r float32) {
		for i, v := range [2]float32{at.Dot(p.right), at.Dot(p.up)} {
			lo[i], hi[i] = min(lo[i], v-r), max(hi[i], v+r)
		}
	}
	for i := range d.poses {
		for _, c := range d.poses[i].body {
			if d.poses[i].shown {
				grow(c.A, c.Radius)
				grow(c.B, c.Radius)
			}
		}
	}
	if lo[0] > hi[0] {
		return f, false
	}
	grow(d.r.Ray.At(d.r.Distance), 0.1)
	wide, high := hi[0]-lo[0], hi[1]-lo[1]
	f.scale = min((panelWide-40)/wide, (panelHigh-70)/high, 180)
	f.middle = p.right.Scale((lo[0] + hi[0]) / 2).Add(p.up.Scale((lo[1] + hi[1]) / 2))
	return f, f.scale > 0
}

// panel draws one view.
func (d *drawing) panel(i int, p *plane) {
	left, top := float32(margin+i*(panelWide+margin)), float32(head)
	fmt.Fprintf(&d.b, `<svg x="%.0f" y="%.0f" width="%d" height="%d"><rect class="frame" x=".5" `+
		`y=".5" width="%d" height="%d" rx="8"/>`+"\n",
		left, top, panelWide, panelHigh, panelWide-1, panelHigh-1)
	f, ok := d.fit(p)
	f.x, f.y = panelWide/2, panelHigh/2+8
	if ok {
		d.ground(&f)
		for k := range d.poses {
			d.body(&f, &d.poses[k])
		}
		d.shot(&f)
		d.ruler(&f)
	} else {
		fmt.Fprintf(&d.b, `<text class="s" x="%d" y="%d" text-anchor="middle">no player near</text>`+"\n",
			panelWide/2, panelHigh/2)
	}
	fmt.Fprintf(&d.b, `<text class="c" x="12" y="22">%s</text><text class="s" x="%d" y="22" `+
		`text-anchor="end">%s</text></svg>`+"\n", p.name, panelWide-12, p.note)
}

// body draws a figure as one silhouette: all edges, then all skins.
func (d *drawing) body(f *frame, g *posedBody) {
	if !g.shown {
		return
	}
	fmt.Fprintf(&d.b, `<g class="%s">`, g.class)
	for _, pass := range [2]struct {
		class string
		more  float32
	}{{"edge", 4}, {"skin", 0}} {
		for n := range g.body {
			i := (int(d.r.Bone) + 1 + n) % len(g.body) // the one that matters over all others
			if pass.class == "skin" && g.class == "seen" && d.sameAsClaimed() {
				continue // the judged body is painted over it anyway
			}
			c := &g.body[i]
			class := pass.class
			if class == "skin" && g.class == "rewound" && rig.Bone(i) == d.r.Bone {
				class += " bone"
			}
			x0, y0 := f.at(c.A)
			x1, y1 := f.at(c.B)
			more := pass.more
			if g.class == "seen" {
				more *= 2 // visible around the judged body where both coincide
			}
			fmt.Fprintf(&d.b, `<path class="%s" stroke-width="%.1f" d="M%.1f %.1fL%.1f %.1f"/>`, class,
				float32(2*c.Radius*f.scale)+more, x0, y0, x1, y1+0.01)
		}
	}
	d.b.WriteString("</g>\n")
}

// sameAsClaimed reports that the shot was judged by what its shooter saw.
func (d *drawing) sameAsClaimed() bool { return d.r.Seen == d.r.Rewound }

// ground draws the level of the feet of the judged pose.
func (d *drawing) ground(f *frame) {
	if f.ground && d.poses[2].shown {
		_, y := f.at(d.r.Rewound.Pos)
		fmt.Fprintf(&d.b, `<path class="ground" d="M1 %.1fH%d"/>`+"\n", y, panelWide-1)
	}
}

// shot draws the ray, its hit or how far it missed, and the normal there.
func (d *drawing) shot(f *frame) {
	r := d.r
	end := r.Ray.At(r.Distance)
	x, y := f.at(end)
	if f.eye {
		fmt.Fprintf(&d.b, `<path class="ray" d="M%.1f %.1fh-22m6 0h10m12 0h10m6 0h-22M%.1f %.1fv-22m0 `+
			`12v10m0 12v10m0 6v-22"/>`+"\n", x-3, y, x, y-3)
	} else {
		back := r.Ray.At(max(0, r.Distance-4))
		x0, y0 := f.at(back)
		fmt.Fprintf(&d.b, `<path class="ray" d="M%.1f %.1fL%.1f %.1f"/>`, x0, y0, x, y)
		x1, y1 := f.at(r.Ray.At(min(r.Ray.Max, r.Distance+4)))
		fmt.Fprintf(&d.b, `<path class="ray past" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x, y, x1, y1)
	}
	if r.Radius > 0 { // the shot is a sphere
		fmt.Fprintf(&d.b, `<circle class="ray" cx="%.1f" cy="%.1f" r="%.1f"/>`+"\n", x, y, r.Radius*f.scale)
	}
	if d.hit() {
		skin := r.Point.Mad(r.Normal, -r.Radius)
		nx, ny := f.at(skin.Mad(r.Normal, 0.25))
		px, py := f.at(skin)
		fmt.Fprintf(&d.b, `<path class="normal" d="M%.1f %.1fL%.1f %.1f"/><circle class="dot" cx="%.1f" `+
			`cy="%.1f" r="4.5"/>`+"\n", px, py, nx, ny, px, py)
		return
	}
	if d.r.Poses&lagcomp.PoseRewound != 0 && int(r.Bone) < int(rig.Bones) {
		c := d.poses[2].body[r.Bone]
		axis := c.B.Sub(c.A)
		s := min(max(end.Sub(c.A).Dot(axis)/max(axis.LenSq(), 1e-9), 0), 1)
		on := c.A.Mad(axis, s)
		gx, gy := f.at(on.Mad(end.Sub(on).Normalize(), c.Radius))
		fmt.Fprintf(&d.b, `<path class="gap" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x, y, gx, gy)
	}
}

// hit reports that the shot has a point on the subject.
func (d *drawing) hit() bool {
	return (d.r.Verdict == lagcomp.HitPlayer || d.r.Verdict == lagcomp.NotVisible) &&
		d.r.Normal != (geom.Vec3{})
}

// ruler draws half a metre, in the room that fit leaves at the bottom.
func (d *drawing) ruler(f *frame) {
	long := float32(f.scale / 2)
	fmt.Fprintf(&d.b, `<path class="ground" d="M12 %dv6h%.1fv-6"/><text class="s" x="%.1f" `+
		`y="%d">0.5 m</text>`+"\n", panelHigh-16, long, 20+long, panelHigh-10)
}

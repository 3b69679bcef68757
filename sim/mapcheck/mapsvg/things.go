package mapsvg

import (
	"fmt"
	"html"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/content"
)

// things draws what a content pack places on the map. zone is the radius of a capture point, metres.
func (d *drawing) things(m *content.Map, zone float32) {
	for _, h := range m.Homes {
		d.rect(fmt.Sprintf("home t%d", h.Team), h.Box.Min, h.Box.Max, fmt.Sprintf("home of team %d", h.Team))
	}
	for _, f := range m.Areas {
		d.rect("field", f.Box.Min, f.Box.Max, f.Kind)
	}
	for i, p := range m.Teleporters {
		d.rect("port", p.Box.Min, p.Box.Max, fmt.Sprintf("teleporter %d", i))
		x, y := d.at(p.Box.Min.Lerp(p.Box.Max, 0.5))
		x1, y1 := d.at(p.Target)
		fmt.Fprintf(&d.b, `<path class="port" stroke-dasharray="2 4" d="M%.2f %.2fL%.2f %.2f"/>`+"\n", x, y, x1, y1)
	}
	for _, s := range m.Barrels {
		d.dot("barrel", s.At, "barrel")
	}
	for _, s := range m.Cubes {
		d.dot("cube", s.At, "cube")
	}
	for _, o := range m.Objects {
		d.dot("object", o.At, o.Kind)
	}
	for _, p := range m.Points {
		x, y := d.at(p.At)
		name := html.EscapeString(p.Name)
		fmt.Fprintf(&d.b, `<circle class="point" cx="%.2f" cy="%.2f" r="%.2f"><title>capture point %s</title>`+
			`</circle><text class="name" x="%.2f" y="%.2f" text-anchor="middle">%s</text>`+"\n", x, y,
			float32(zone*d.scale), name, x, y+5, name)
	}
}

// dot draws a small object.
func (d *drawing) dot(class string, at geom.Vec3, title string) {
	x, y := d.at(at)
	fmt.Fprintf(&d.b, `<circle class="%s" cx="%.2f" cy="%.2f" r="%.2f">%s</circle>`+"\n", class, x, y,
		max(float32(0.5*d.scale), 2), titleOf(title))
}

package rig

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

var svgFile = flag.String("svg", "", "write a drawing of all named poses to this file")

// named are poses that a person can judge by looking at them (go test -run SVG -svg poses.svg);
// their capsules are pinned in testdata.
func named() []struct {
	name string
	pose Pose
} {
	type row = struct {
		name string
		pose Pose
	}
	var rows []row
	for h := range Heroes {
		add := func(name string, s Stance, p Pose) {
			p.Form = FormOf(h, s)
			rows = append(rows, row{h.String() + " " + name, p})
		}
		add("hangs", Stand, Pose{})
		add("aims", Stand, Pose{Aim: 255})
		add("aims up", Stand, Pose{Aim: 255, Pitch: 0x2800})
		add("aims down", Stand, Pose{Aim: 255, Pitch: 0xD000})
		add("run 0", Run, Pose{Aim: 255, Gait: 191})
		add("run 1", Run, Pose{Aim: 255, Gait: 191, Phase: 0x2000})
		add("run 2", Run, Pose{Aim: 255, Gait: 191, Phase: 0x4000})
		add("run 3", Run, Pose{Aim: 255, Gait: 191, Phase: 0x6000})
		add("sprint", Sprint, Pose{Gait: 255, Phase: 0x3000})
		add("strafes", Run, Pose{Aim: 255, Gait: 191, Phase: 0x4000, Move: 64, Hips: 42})
		add("backwards", Run, Pose{Aim: 255, Gait: 191, Phase: 0x4000, Move: 128})
		add("turns", Run, Pose{Aim: 255, Gait: 191, Phase: 0x3000, Bank: 127})
		add("flies", InAir, Pose{Aim: 255, Gait: 191, Air: 255, Phase: 0x4000})
		add("lands", Land, Pose{Aim: 255, Gait: 64, Squat: 255})
		add("dead", Dead, Pose{Squat: 255})
	}
	return rows
}

// draw appends the capsules seen from the front and from the left, as strokes with round ends: the
// true outline.
func draw(b *strings.Builder, body *Body, x, y float32) {
	colours := [...]string{"#888", "#4a78b0", "#c04040", "#3c9a68", "#b08a3a"}
	for side := range 2 {
		for i := range Bones {
			c := body[i]
			ax, bx := c.A.X, c.B.X
			if side == 1 {
				ax, bx = c.A.Z, c.B.Z
			}
			fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f" `+
				`stroke-linecap="round" stroke-opacity="0.55"/>`+"\n",
				x+100*ax, y-100*c.A.Y, x+100*bx, y-100*c.B.Y, colours[i.Part()], 200*c.Radius)
			fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#000" stroke-width="1"/>`+
				"\n",
				x+100*ax, y-100*c.A.Y, x+100*bx, y-100*c.B.Y)
		}
		x += 190
	}
}

func TestSVG(t *testing.T) {
	var b strings.Builder
	rows := named()
	const columns = 5
	height := (len(rows) + columns - 1) / columns * 280
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">`+
		`<rect width="100%%" height="100%%" fill="#fff"/>`+"\n",
		columns*400, height)
	for i := range rows {
		x, y := float32(i%columns*400+100), float32(i/columns*280+245)
		fmt.Fprintf(&b, `<path d="M%.0f %.0f h380" stroke="#ccc"/>`, x-90, y)
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="14">%s</text>`+"\n", x-90, y+20, rows[i].name)
		var body Body
		Capsules(&rows[i].pose, &body)
		for _, c := range body {
			for _, v := range []geom.Vec3{c.A, c.B} {
				if !v.Finite() {
					t.Fatalf("%s: %v", rows[i].name, c)
				}
			}
		}
		draw(&b, &body, x, y)
	}
	b.WriteString("</svg>\n")
	if *svgFile != "" {
		if err := os.WriteFile(*svgFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

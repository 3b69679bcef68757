package shotsvg

import (
	"fmt"
	"strings"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// escape makes a name safe as SVG text.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// BoneName names the bone of the subject: records are of the match's heroes.
func BoneName(r *lagcomp.ShotRecord) string {
	return rig.HeroBodies.BoneName(r.Rewound.Form.Build(), r.Bone)
}

// Sentence describes the outcome of a shot in words.
func Sentence(r *lagcomp.ShotRecord, name func(id uint32) string) string {
	what := "shot"
	if r.Melee {
		what = "punch"
	}
	switch r.Verdict {
	case lagcomp.HitPlayer:
		return fmt.Sprintf("%s hit %s, %s, %.2f m away", name(r.Shooter), name(r.Subject), BoneName(r), r.Distance)
	case lagcomp.NotVisible:
		return fmt.Sprintf("%s would have hit %s, which was not visible to it", name(r.Shooter),
			name(r.Subject))
	case lagcomp.NoHistory:
		return fmt.Sprintf("%s's %s had no past to be judged by", name(r.Shooter), what)
	case lagcomp.HitObject:
		what += " struck an object"
	case lagcomp.HitWall:
		what += " struck a wall"
	default:
		what += " hit no player"
	}
	if r.Subject == 0 {
		return fmt.Sprintf("%s's %s", name(r.Shooter), what)
	}
	return fmt.Sprintf("%s's %s, %.2f m past %s, %s", name(r.Shooter), what, r.Miss, name(r.Subject), BoneName(r))
}

// title writes the sentence, and the number and tick of the shot below it.
func (d *drawing) title(name func(uint32) string) {
	fmt.Fprintf(&d.b, `<text class="t" x="%d" y="34">%s</text>`, margin, escape.Replace(Sentence(d.r, name)))
	fmt.Fprintf(&d.b, `<text class="s" x="%d" y="57">shot %d, tick %d</text>`+"\n", margin, d.r.Number,
		d.r.Tick)
}

// legend names the poses.
func (d *drawing) legend() {
	x, y := margin, head+panelHigh+26
	for _, i := range [3]int{1, 2, 0} { // as time went by for the shooter
		f := &d.poses[i]
		text := map[string]string{"present": "where it was by then", "seen": "what the shooter saw",
			"rewound": "what was judged"}[f.class]
		switch {
		case !f.shown:
			text += ": not here"
		case f.class == "rewound" && d.poses[1].shown && d.sameAsClaimed():
			text += ": the same, to the bit"
		}
		fmt.Fprintf(&d.b, `<g class="%s"><path class="edge" stroke-width="16" d="M%d %dh12"/>`+
			`<path class="skin" stroke-width="11" d="M%d %dh12"/></g>`+
			`<text class="s" x="%d" y="%d">%s</text>`+"\n",
			f.class, x+8, y-5, x+8, y-5, x+36, y, text)
		x += panelWide + margin
	}
}

// facts writes the numbers.
func (d *drawing) facts() {
	r := d.r
	clamp := "accepted as claimed"
	if r.ClampReason != lagcomp.ClampNone {
		clamp = fmt.Sprintf("moved %+.2f ticks: %s", float64(r.Shift)/256, r.ClampReason)
	}
	took := "not measured"
	if r.Nanos != 0 {
		took = fmt.Sprintf("%d ns", r.Nanos)
	}
	for i, line := range [2][3][2]string{
		{{"claimed", View(r.Claimed)}, {"judged by", View(r.Used)}, {"view", clamp}},
		{
			{"rewound", fmt.Sprintf("%.2f ticks", Behind(r))},
			{"candidates", fmt.Sprintf("%d named, %d touched, %d tested", r.Candidates, r.Bounds,
				r.PosesTested)}, {"took", took},
		},
	} {
		for k, fact := range line {
			x, y := margin+k*(panelWide+margin), head+panelHigh+64+i*28
			fmt.Fprintf(&d.b, `<text class="s" x="%d" y="%d">%s</text>`, x, y, fact[0])
			fmt.Fprintf(&d.b, `<text class="m" x="%d" y="%d">%s</text>`+"\n", x+74, y, fact[1])
		}
	}
}

// Behind is how far back a shot was judged, in ticks.
func Behind(r *lagcomp.ShotRecord) float64 {
	if !r.Used.Valid() {
		return 0
	}
	return float64(int64(r.Tick)<<8-lagcomp.Instant(r.Used)) / 256
}

// View describes a view: both ticks, and how far it lies between them.
func View(v tick.View) string {
	switch {
	case !v.Valid():
		return "no view"
	case v.From == v.To || v.Frac == 0:
		return fmt.Sprintf("tick %d", v.From)
	}
	return fmt.Sprintf("%d to %d, %d/256", v.From, v.To, v.Frac)
}

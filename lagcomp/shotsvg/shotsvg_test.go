package shotsvg

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// shot is one that hits a runner in the chest.
func shot() lagcomp.ShotRecord {
	r := lagcomp.ShotRecord{
		Number: 7, Tick: 40, Shooter: 3, Subject: 9, Verdict: lagcomp.HitPlayer,
		Poses:   lagcomp.PoseSeen | lagcomp.PoseRewound | lagcomp.PosePresent,
		Claimed: tick.View{From: 30, To: 33, Frac: 128}, Used: tick.View{From: 30, To: 33, Frac: 128},
		Candidates: 4, Bounds: 2, PosesTested: 1,
		Ray: geom.Ray{Origin: geom.Vec3{Y: 1.6}, Dir: geom.Vec3{Z: 1}, Max: 100},
	}
	r.Rewound = rig.Pose{ID: 9, Pos: geom.Vec3{Z: 10}, Gait: 200, Phase: 9000, Yaw: 0x4000, Aim: 255,
		Flags: rig.Flags(true, 1, 1)}
	r.Seen, r.Present = r.Rewound, r.Rewound
	r.Present.Pos.X = 0.8
	hit, _ := lagcomp.Test(rig.HeroBodies, r.Ray, 0, &r.Rewound)
	r.Bone, r.Distance, r.Point, r.Normal = hit.Bone, hit.Distance, r.Ray.At(hit.Distance), hit.Normal
	return r
}

// count reads a drawing as XML and counts elements by class; the drawing must be well-formed and
// have no number that is none.
func count(t *testing.T, r *lagcomp.ShotRecord, name func(uint32) string) (classes map[string]int,
	text string) {
	t.Helper()
	out := string(Append(nil, r, name))
	if _, drawn, _ := strings.Cut(out, "</text>"); strings.Contains(drawn, "NaN") ||
		strings.Contains(drawn, "Inf") {
		at := strings.Index(out+"Inf", "Inf")
		if nan := strings.Index(out, "NaN"); nan >= 0 {
			at = nan
		}
		t.Fatalf("a number that is none: %.200s", out[max(0, at-100):])
	}
	classes = map[string]int{}
	d := xml.NewDecoder(strings.NewReader(out))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return classes, text
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "class" {
					classes[a.Value]++
				}
			}
		case xml.CharData:
			text += string(token) + "\n"
		}
	}
}

func TestRow71AHitIsDrawn(t *testing.T) {
	r := shot()
	if r.Bone != rig.Head {
		t.Fatalf("it hit %v", r.Bone)
	}
	c, text := count(t, &r, func(id uint32) string { return map[uint32]string{3: "<Ann & Co>", 9: "Bo"}[id] })
	// Three panels and the legend; in each panel the bone that was hit, the point and the normal.
	if c["seen"] != 4 || c["rewound"] != 4 || c["present"] != 4 || c["skin bone"] != 3 || c["dot"] != 3 ||
		c["normal"] != 3 || c["gap"] != 0 || c["ray"] != 3 || c["ray past"] != 2 {
		t.Errorf("%v", c)
	}
	for _, want := range []string{"<Ann & Co> hit Bo, head, ", "what was judged: the same, to the bit",
		"30 to 33, 128/256", "8.50 ticks", "accepted as claimed", "4 named, 2 touched, 1 tested"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q: %s", want, text)
		}
	}
}

func TestAMissIsDrawn(t *testing.T) {
	r := shot()
	r.Verdict, r.Miss, r.Radius, r.ClampReason, r.Shift = lagcomp.HitWall, 0.31, 0.1, lagcomp.ClampCap, 512
	r.Used.From += 2
	r.Rewound.Pos.Z += 0.2
	c, text := count(t, &r, nil)
	if c["dot"] != 0 || c["gap"] != 3 || c["ray"] != 6 {
		t.Errorf("%v", c)
	}
	for _, want := range []string{"3's shot struck a wall, 0.31 m past 9, head", "moved +2.00 ticks: cap"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q: %s", want, text)
		}
	}
	if strings.Contains(text, "to the bit") {
		t.Error("what was judged is not what was seen")
	}
}

// The ground line is drawn below the player's feet and does not overlap the ruler's text.
func TestTheGroundIsClearOfTheRuler(t *testing.T) {
	ground, ruler := regexp.MustCompile(`class="ground" d="M1 ([0-9.-]+)H`),
		regexp.MustCompile(`y="([0-9.]+)">0.5 m<`)
	for _, up := range []float32{0, -0.5, 0.4} {
		for _, apart := range []float32{0, 0.8, 4} {
			r := shot()
			r.Ray.Dir = geom.Vec3{Y: up, Z: 1}.Normalize()
			r.Ray.Origin.Y -= 10 * up
			r.Present.Pos.X = apart
			text := string(Append(nil, &r, nil))
			at, label := ground.FindAllStringSubmatch(text, -1), ruler.FindStringSubmatch(text)
			if len(at) != 1 || label == nil {
				t.Fatalf("%d levels of feet, ruler %q", len(at), label)
			}
			y, _ := strconv.ParseFloat(at[0][1], 32)
			baseline, _ := strconv.ParseFloat(label[1], 32)
			if y > baseline-12 {
				t.Errorf("up %v, apart %v: the ground at %v strikes through the text at %v", up, apart, y,
					baseline)
			}
		}
	}
	r := shot()
	r.Poses = lagcomp.PoseSeen
	if text := string(Append(nil, &r, nil)); ground.MatchString(text) {
		t.Error("the ground is drawn without a judged pose")
	}
}

// The drawing is well-formed for any numbers in a shot record.
func TestAnyReceiptIsDrawn(t *testing.T) {
	nan := float32(math.NaN())
	for _, edit := range []func(*lagcomp.ShotRecord){
		func(r *lagcomp.ShotRecord) { *r = lagcomp.ShotRecord{} },
		func(r *lagcomp.ShotRecord) { r.Ray.Dir = geom.Vec3{Y: 1} },
		func(r *lagcomp.ShotRecord) { r.Ray.Dir = geom.Vec3{X: nan} },
		func(r *lagcomp.ShotRecord) { r.Ray.Origin.X = nan },
		func(r *lagcomp.ShotRecord) { r.Rewound.Pos.X, r.Seen.Pos.Z, r.Present.Pos.Y = nan, nan, nan },
		func(r *lagcomp.ShotRecord) { r.Bone, r.Verdict, r.ClampReason = 200, 200, 200 },
		func(r *lagcomp.ShotRecord) { r.Bone, r.Verdict = 200, lagcomp.Missed },
		func(r *lagcomp.ShotRecord) { r.Point.X, r.Radius = nan, nan },
		func(r *lagcomp.ShotRecord) { r.Present.Pos.X = 1e30 },
	} {
		r := shot()
		edit(&r)
		count(t, &r, nil)
	}
}

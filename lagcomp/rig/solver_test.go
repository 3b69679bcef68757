package rig

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The capsules of the named poses, to the bit: the first figure of a line is a hash of the bits of
// all 17, the others are for people.
func TestRow69GoldenPoses(t *testing.T) {
	var b strings.Builder
	for _, n := range named() {
		var body Body
		Capsules(&n.pose, &body)
		fmt.Fprintf(&b, "%s %#016x\n", n.name, hash(&body))
		for i, c := range body {
			fmt.Fprintf(&b, "\t%-15s %7.4f %7.4f %7.4f  %7.4f %7.4f %7.4f  %.3f\n", boneNames[i], c.A.X, c.A.Y,
				c.A.Z, c.B.X, c.B.Y, c.B.Z, c.Radius)
		}
	}
	file := filepath.Join("testdata", "poses.golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d:\n%s\nwant\n%s\n(-update rewrites, -svg draws)", i+1, g[i], w[i])
			}
		}
		t.Fatal("of another length")
	}
}

// The bits of 20,000 random poses' capsules, in one number.
func TestRow69ShapeBits(t *testing.T) {
	r := rand.New(rand.NewPCG(68, 69))
	sum := uint64(0)
	var body Body
	for i := range 20_000 {
		p := random(r, Hero(i%2))
		LocalCapsules(&p, &body)
		sum = sum*31 + hash(&body)
	}
	if want := uint64(0x176f84dd6abe5419); sum != want {
		t.Errorf("hash %#x, pinned %#x", sum, want)
	}
}

func hash(body *Body) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range body {
		for _, x := range []float32{c.A.X, c.A.Y, c.A.Z, c.B.X, c.B.Y, c.B.Z, c.Radius} {
			h = (h ^ uint64(math.Float32bits(x))) * 1099511628211
		}
	}
	return h
}

// The table of both skeletons is a tree in order, of as many parts as FPSSample's bodies.
func TestSkeletons(t *testing.T) {
	for h, k := range Skeletons {
		parts := map[Part]int{}
		for i, j := range k.Joints {
			parts[Bone(i).Part()]++
			if i == 0 && j.Parent != Pelvis || i > 0 && j.Parent >= Bone(i) && Bone(i) != Head {
				t.Errorf("%v: %v hangs on %v", Hero(h), Bone(i), j.Parent)
			}
			if j.Length <= 0 || j.Radius <= 0 {
				t.Errorf("%v: %v is %v m long and %v m thick", Hero(h), Bone(i), j.Length, j.Radius)
			}
		}
		if parts[PartTorso] != 4 || parts[PartHead] != 1 || parts[PartArms] != 6 || parts[PartLegs] != 6 {
			t.Errorf("%v: %v", Hero(h), parts)
		}
		// FPSSample's heads: 0.40 m and 0.55 m high.
		want := []float64{0.40, 0.55}[h]
		if got := float64(k.Joints[Head].Length + 2*k.Joints[Head].Radius); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v: a head of %v m, want %v", Hero(h), got, want)
		}
	}
}

// Standing, a hero is as high as its capsule, its feet on the ground, FPSSample's eye height
// within its head.
func TestStature(t *testing.T) {
	for h, eyes := range []float32{1.65, 1.9} {
		for _, aim := range []uint8{0, 255} {
			p := Pose{Form: FormOf(Hero(h), Stand), Aim: aim}
			var body Body
			LocalCapsules(&p, &body)
			lo, hi := span(&body)
			if k := Skeletons[h].Height; math.Abs(lo) > 1e-6 || math.Abs(hi-float64(k)) > 0.005 {
				t.Errorf("%v reaches from %.4f to %.4f m", Hero(h), lo, hi)
			}
			if d := distance(geom.Vec3{Y: eyes}, body[Head]); d > 0 {
				t.Errorf("%v: eyes %.3f m outside the head", Hero(h), d)
			}
		}
	}
}

// span is the lowest and highest point of a body.
func span(body *Body) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range body {
		lo = min(lo, float64(min(c.A.Y, c.B.Y)-c.Radius))
		hi = max(hi, float64(max(c.A.Y, c.B.Y)+c.Radius))
	}
	return lo, hi
}

// distance from a point to the surface of a capsule in float64, negative inside.
func distance(p geom.Vec3, c geom.Capsule) float64 {
	sub := func(a, b geom.Vec3) [3]float64 {
		return [3]float64{float64(a.X) - float64(b.X), float64(a.Y) - float64(b.Y),
			float64(a.Z) - float64(b.Z)}
	}
	dot := func(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
	ab, ap := sub(c.B, c.A), sub(p, c.A)
	f := min(max(dot(ap, ab)/dot(ab, ab), 0), 1)
	d := [3]float64{ap[0] - ab[0]*f, ap[1] - ab[1]*f, ap[2] - ab[2]*f}
	return math.Sqrt(dot(d, d)) - float64(c.Radius)
}

// Whatever the pose: bones keep their lengths and hang together, the lower foot stands on the
// ground unless in the air or running, no foot is below it, and neither place nor identity changes
// the shape.
func TestAnyPose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 50_000 {
		p := random(r, Hero(i%2))
		if i%3 == 0 {
			p.Air, p.Gait = 0, 0
		}
		k := &Skeletons[p.Form.Hero()]
		var body, moved, world Body
		LocalCapsules(&p, &body)
		for b, c := range body {
			j := k.Joints[b]
			if l := c.B.Sub(c.A).Len(); math.Abs(float64(l-j.Length)) > 2e-6 || c.Radius != j.Radius {
				t.Fatalf("%v is %v m long, want %v: %+v", Bone(b), l, j.Length, p)
			}
			joint := body[j.Parent].B
			if j.Start {
				joint = body[j.Parent].A
			}
			if l := c.A.Sub(joint).Len(); b > 0 &&
				math.Abs(float64(l)-math.Hypot(float64(j.Side), float64(j.Up))) > 1e-6 {
				t.Fatalf("%v hangs %v m off its joint: %+v", Bone(b), l, p)
			}
		}
		feet := math.Inf(1)
		for _, b := range []Bone{FootL, FootR} {
			feet = min(feet, float64(min(body[b].A.Y, body[b].B.Y)-body[b].Radius))
		}
		if feet < -1e-6 || p.Air == 0 && p.Gait == 0 && feet > 1e-6 {
			t.Fatalf("feet at %v m: %+v", feet, p)
		}
		q := p
		q.Pos, q.ID, q.Flags = geom.Vec3{X: 1000.25, Y: -7, Z: 3}, 99, 0
		if LocalCapsules(&q, &moved); moved != body {
			t.Fatalf("the shape depends on the place: %+v", p)
		}
		Capsules(&q, &world)
		for b := range world {
			if world[b].A != body[b].A.Add(q.Pos) || world[b].B != body[b].B.Add(q.Pos) {
				t.Fatalf("%v is not where it should be: %+v", Bone(b), p)
			}
		}
	}
}

// A mirrored pose has the mirrored shape. Weapons and jumps have a handedness, so those are left
// out.
func TestMirrored(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for i := range 5_000 {
		p := random(r, Hero(i%2))
		p.Yaw, p.Aim, p.Air, p.Bank = 0, 0, 0, max(p.Bank, -127)
		p.Hips = max(p.Hips, -127)
		q := p
		q.Phase += 0x8000
		q.Move, q.Bank, q.Hips = -p.Move, -p.Bank, -p.Hips
		var a, b Body
		LocalCapsules(&p, &a)
		LocalCapsules(&q, &b)
		for bone := range Bones {
			twin := bone
			switch {
			case bone >= ThighL && bone <= FootL, bone >= UpperArmL && bone <= HandL:
				twin += 3
			case bone >= ThighR && bone <= FootR, bone >= UpperArmR && bone <= HandR:
				twin -= 3
			}
			for _, v := range [2][2]geom.Vec3{{a[bone].A, b[twin].A}, {a[bone].B, b[twin].B}} {
				v[1].X = -v[1].X
				if d := v[0].Sub(v[1]).Len(); d > 1e-5 {
					t.Fatalf("%v of %+v is %v m off its mirror image", bone, p, d)
				}
			}
		}
	}
}

// Neighbouring values of each parameter give neighbouring shapes: nothing jumps, so interpolated
// figures move smoothly.
func TestNothingJumps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 20_000 {
		p := random(r, Hero(i%2))
		q := p
		limit := 0.04 // metres, the outermost hand
		switch r.IntN(10) {
		case 0:
			q.Yaw += 64
		case 1:
			q.Pitch = geom.Angle(min(q.Pitch.Signed()+64, 0x3FFF))
			p.Pitch = q.Pitch - 64
		case 2:
			q.Phase += 64
		case 3:
			q.Move++
		case 4:
			q.Hips++
		case 5:
			q.Gait = min(q.Gait, 254)
			p.Gait, q.Gait = q.Gait, q.Gait+1
		case 6:
			q.Bank = min(q.Bank, 126)
			p.Bank, q.Bank = q.Bank, q.Bank+1
		case 7:
			q.Aim = min(q.Aim, 254)
			p.Aim, q.Aim = q.Aim, q.Aim+1
			limit = 0.3 // an elbow turns quickly where the hand passes near the shoulder
		case 8:
			q.Air = min(q.Air, 254)
			p.Air, q.Air = q.Air, q.Air+1
		case 9:
			q.Squat = min(q.Squat, 254)
			p.Squat, q.Squat = q.Squat, q.Squat+1
		}
		var a, b Body
		LocalCapsules(&p, &a)
		LocalCapsules(&q, &b)
		for bone := range Bones {
			if d := float64(max(a[bone].A.Sub(b[bone].A).Len(), a[bone].B.Sub(b[bone].B).Len())); d > limit {
				t.Fatalf("%v jumps %.3f m from\n%+v to\n%+v", bone, d, p, q)
			}
		}
	}
}

// A runner's head bobs by less than its own half width, a sprinter's by little more: heads are to
// be aimed at.
func TestBob(t *testing.T) {
	for h, k := range Skeletons {
		for _, c := range []struct {
			gait uint8
			most float32
		}{{191, 0.09}, {255, 0.14}} {
			lo, hi := float32(9), float32(0)
			for phase := range 256 {
				p := Pose{Form: FormOf(Hero(h), Run), Gait: c.gait, Aim: 255, Phase: uint16(phase << 8)}
				var body Body
				LocalCapsules(&p, &body)
				lo, hi = min(lo, body[Head].B.Y), max(hi, body[Head].B.Y)
			}
			if bob := (hi - lo) / k.Height * 1.8; bob > c.most {
				t.Errorf("%v bobs %.3f m at gait %d, of a height of 1.8 m", Hero(h), bob, c.gait)
			}
		}
	}
}

func TestShapeAllocatesNothing(t *testing.T) {
	p := Pose{Aim: 255, Gait: 200, Phase: 999, ID: 1}
	q := p
	q.Pos.X = 1
	ray := geom.Ray{Origin: geom.Vec3{Y: 1.2, Z: -20}, Dir: geom.Vec3{Z: 1}, Max: 100}
	var body Body
	if n := alloctest.In(100, func() {
		Capsules(&p, &body)
		mid := Lerp(&p, &q, 77)
		HeroBodies.Test(ray, 0.2, &mid)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

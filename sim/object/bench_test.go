package object

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
)

// skirmish is a lobby on a generated map: players that have stood for 64 ticks, projectiles fired
// by all at delays of up to a quarter of a second, and a tenth as many grenades.
func skirmish(tb testing.TB, players, flying int) (*stage, []Projectile, []Grenade) {
	a := arena.Generate(players, 7)
	s := newStage(a, players)
	rng := rand.New(rand.NewPCG(uint64(players), uint64(flying)))
	half := a.Bounds.Max.X - 2
	for i := range players {
		s.put(i, uint8(i%2), v3(between(rng, -half, half), 0, between(rng, -half, half)))
		s.health[i] = 30000
	}
	for i := range 20 {
		s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(thing(i), v3(between(rng, -half, half), 0,
			between(rng, -half, half))))
	}
	for range 64 {
		for i := range s.poses {
			s.poses[i].Pos.X += between(rng, -0.1, 0.1)
		}
		s.next()
	}
	projectiles := make([]Projectile, flying)
	for i := range projectiles {
		projectiles[i] = s.shoot(rng, i)
	}
	grenades := make([]Grenade, flying/10)
	for i := range grenades {
		g := toss(rng.IntN(players), uint8(i%2), v3(between(rng, -half, half), 2,
			between(rng, -half, half)), geom.Angle(rng.Uint32()), 30)
		g.Thrown, g.ID = s.Now, thing(50000+i)
		grenades[i] = g
	}
	return s, projectiles, grenades
}

// shoot fires a projectile from the eyes of player i in a random direction.
func (s *stage) shoot(rng *rand.Rand, i int) Projectile {
	who := rng.IntN(len(s.poses))
	from := s.poses[who].Pos.Add(v3(0, 1.65, 0))
	f := Trajectory{Start: from, Yaw: geom.Angle(rng.Uint32()),
		Pitch: geom.Angle(int16(rng.IntN(1000) - 200)), Tick: s.Now,
		Owner: player(who), Type: uint8(i % 3), Team: uint8(who % 2)}
	view := tick.View{From: s.Now - 1 - tick.Tick(rng.IntN(15)), Frac: uint8(rng.Uint32())}
	view.To = view.From + 1
	return Launch(thing(1000+i), f, view)
}

// battle is a tick of everything; what ended starts again, so that the number in the air stays.
func battle(s *stage, projectiles []Projectile, grenades []Grenade) {
	for i := range projectiles {
		if p := &projectiles[i]; p.Hit != Flying {
			p.Hit, p.Ended, p.Tick = Flying, 0, s.Now-1
		}
	}
	for i := range grenades {
		if g := &grenades[i]; g.Exploded != 0 {
			g.Exploded, g.Thrown, g.Pos.Y, g.Vel, g.Resting = 0, s.Now-1, 3,
				v3(float32(i%7)-3, 4, float32(i%5)-2), false
		}
	}
	s.StepProjectiles(projectiles)
	s.StepGrenades(grenades)
	s.ResolveBlasts()
	s.wounds = s.ResolveDamage(s.find, s.wounds[:0])
}

// BenchmarkProjectiles flies 200 projectiles for a tick among 1000 players.
func BenchmarkProjectiles(b *testing.B) {
	s, all, _ := skirmish(b, 1000, 200)
	start := append([]Projectile(nil), all...)
	s.Now++
	s.history.Record(s.Now, s.poses)
	b.ReportAllocs()
	for b.Loop() {
		copy(all, start)
		s.StepProjectiles(all)
		s.Blasts.list = s.Blasts.list[:0]
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/projectile")
}

// BenchmarkBlast lets a grenade explode among 1000 players, all within its reach or spread over the
// map.
func BenchmarkBlast(b *testing.B) {
	for name, half := range map[string]float32{"all-near": 4, "spread": 0} {
		s, _, _ := skirmish(b, 1000, 0)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range s.poses {
			if half > 0 {
				s.put(i, uint8(i%2), v3(between(rng, -half, half), 0, between(rng, -half, half)))
			}
		}
		s.Barrels = nil
		s.next()
		splash := DefaultGrenade().Splash
		splash.Damage = 0 // no player dies during the benchmark
		blast := Blast{Center: v3(0.1, 1.5, 0.1), Splash: splash, Instigator: player(0),
			Team: lagcomp.NoTeam, Source: 1, Queued: s.Now}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Blasts.Add(blast)
				s.ResolveBlasts()
				s.wounds = s.ResolveDamage(s.find, s.wounds[:0])
			}
			b.ReportMetric(float64(len(s.wounds)), "wounds/op")
		})
	}
}

// BenchmarkTick is all that objects do in a tick of a firefight: 200 projectiles, 20 grenades,
// blasts, damage.
func BenchmarkTick(b *testing.B) {
	s, projectiles, grenades := skirmish(b, 1000, 200)
	b.ReportAllocs()
	for b.Loop() {
		s.Now++
		s.history.Record(s.Now, s.poses)
		battle(s, projectiles, grenades)
	}
}

// BenchmarkCubes moves 100 cubes that were just pushed among 1000 players.
func BenchmarkCubes(b *testing.B) {
	s, _, _ := skirmish(b, 1000, 0)
	s.Cubes = SpawnCubes(100, v3(0, 4, 0), &s.CubeKind, thing, nil)
	start := append([]Cube(nil), s.Cubes...)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%120 == 0 {
			copy(s.Cubes, start)
		}
		s.StepCubes()
	}
}

// BenchmarkLedger notes and settles 4000 damages of 2000 triples.
func BenchmarkLedger(b *testing.B) {
	l, health := NewDamageQueue(4096), int16(30000)
	var out []DamageResult
	b.ReportAllocs()
	for b.Loop() {
		for i := range 4000 {
			l.Add(Damage{Victim: player(i % 500), Instigator: player(i % 2000), Points: 0,
				Impulse: v3(1, 0, 0)})
		}
		out = l.Resolve(func(netid.ID) *int16 { return &health }, out[:0])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4000, "ns/damage")
}

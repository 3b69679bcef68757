package sim

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// slowHash is Hash through encoding/binary and hash/fnv.
func (c *columns) slowHash(t *testing.T) uint64 {
	o := c.objects
	last := make([]int64, len(c.clampLimits))
	for i := range c.clampLimits {
		last[i] = c.clampLimits[i].LastInstant
	}
	h := fnv.New64a()
	jumpers, due := c.match.teleporting.Rows()
	burners, fires := c.match.burning.Rows()
	watchers, since := c.match.spectating.Rows()
	for _, v := range []any{*c.clock, *c.score, *c.mode, c.id, c.pos, c.vel, c.state, c.look, c.vital,
		c.ability, c.anim, last, o.Projectiles, o.Grenades, c.scene.Barrels, c.scene.Cubes, o.Ports,
		o.Occupied, jumpers, due, burners, fires, watchers, since,
		c.scene.Blasts.Waiting(), o.areaHits.Next()} {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return h.Sum64()
}

// slowPrint is the fingerprint of columns as they are saved, through hash/fnv.
func slowPrint(what string, columns ...ecs.Memory) Checksum {
	h := fnv.New32a()
	for _, column := range columns {
		_, _ = h.Write(appendPlanes(nil, column))
	}
	return Checksum{what, h.Sum32()}
}

// slowPrints are the Prints of what has a column of its own, in any order.
func (c *columns) slowPrints() (all []Checksum) {
	o := c.objects
	ids := func(page int) ecs.Memory {
		var list []netid.ID
		if v := c.match.World.View(c.match.kinds[page]); v.Open() {
			list = append(list, v.IDs()...)
			v.Close()
		}
		return memoryOf(list)
	}
	_, due := c.match.teleporting.Rows()
	_, fires := c.match.burning.Rows()
	_, watch := c.match.spectating.Rows()
	for _, k := range kinds { // none is on this map
		for i := range k.columns {
			if k.byName && k.columns[i].use&inChecksums != 0 {
				all = append(all, slowPrint(k.columns[i].typ.String(), ecs.Memory{Type: k.columns[i].typ}))
			}
		}
	}
	return append(all, slowPrint("round", single(c.clock), single(c.score), single(c.mode)),
		slowPrint("players", memoryOf(c.id)),
		slowPrint("geom.Vec3", memoryOf(c.pos)), slowPrint("move.State", memoryOf(c.state)),
		slowPrint("sim.Look", memoryOf(c.look)),
		slowPrint("sim.Vital", memoryOf(c.vital)), slowPrint("ability.State", memoryOf(c.ability)),
		slowPrint("anim.State", memoryOf(c.anim)),
		slowPrint("sim.Command", memoryOf(c.command)), slowPrint("sim.Velocity", memoryOf(c.vel)),
		slowPrint("projectiles", ids(pageProjectile)),
		slowPrint("object.Projectile", memoryOf(o.Projectiles)),
		slowPrint("grenades", ids(pageGrenade)), slowPrint("object.Grenade", memoryOf(o.Grenades)),
		slowPrint("object.Barrel", memoryOf(c.scene.Barrels)),
		slowPrint("object.Cube", memoryOf(c.scene.Cubes)),
		slowPrint("object.Teleporter", memoryOf(o.Ports)), slowPrint("mode.Occupancy", memoryOf(o.Occupied)),
		slowPrint("due teleports", ids(pageTeleporting)), slowPrint("object.TeleportRequest", memoryOf(due)),
		slowPrint("burning players", ids(pageBurning)), slowPrint("sim.Burning", memoryOf(fires)),
		slowPrint("spectating players", ids(pageSpectating)), slowPrint("sim.Spectating", memoryOf(watch)),
		slowPrint("sim.Item", memoryOf(ecs.Resource[items](c.match.World).all)),
		slowPrint(string(dBlasts), memoryOf(c.scene.Blasts.Waiting())),
		slowPrint(string(dAreas), memoryOf(o.areaHits.Next())))
}

// TestFingerprintsAreThoseOfTheirTwins: recordings hold fingerprints, so they must stay what they
// were; and a tick that is recorded must not be what fills the heap.
func TestFingerprintsAreThoseOfTheirTwins(t *testing.T) {
	for _, players := range []int{0, 1, 16} {
		s := newScript(t, max(players, 1), Rules{Seed: 7, RespawnMillis: 700, Mix: true, Game: furnished()},
			"arena-16")
		if players == 0 {
			s = &script{m: New(4, *s.m.Rules(), s.m.Scene().Arena)}
		}
		var got []Checksum
		for tick := range 600 {
			if players == 0 {
				s.m.Step()
			} else {
				s.step()
			}
			if tick%20 != 0 {
				continue
			}
			hash := s.m.Hash()
			got = s.m.Checksums(got[:0])
			c := s.m.open()
			if want := c.slowHash(t); hash != want {
				t.Fatalf("%d players, tick %d: hash %016x, its twin %016x", players, tick, hash, want)
			}
			want := c.slowPrints()
			c.close()
			if len(got) != len(want) {
				t.Fatalf("%d prints, their twins %d: %v", len(got), len(want), got)
			}
			sums := map[string]uint32{}
			for _, p := range want {
				sums[p.Name] = p.Sum
			}
			for _, p := range got {
				if sum, ok := sums[p.Name]; !ok || sum != p.Sum {
					t.Fatalf("%d players, tick %d: %s %08x, its twin %08x", players, tick, p.Name, p.Sum, sum)
				}
			}
		}
		if n := alloctest.In(20, func() { _, got = s.m.Hash(), s.m.Checksums(got[:0]) }); n != 0 &&
			players > 0 && !raceEnabled {
			t.Errorf("%d players: %v allocations", players, n)
		}
	}
}

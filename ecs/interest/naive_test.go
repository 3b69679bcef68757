package interest

import (
	"math"
	"sort"

	"github.com/tickrate/tickrate/ecs/netid"
)

// scene has the columns of a snapshot.
type scene struct {
	ids    []netid.ID
	x, z   []float32
	team   []uint8
	combat []uint64
	lives  []int // by slot: generations so far
}

// slow is the naive twin of a Client: pair by pair, with maps.
type slow struct {
	cfg    Config
	left   map[int]int // snapshots for which a slot stays visible
	id     map[int]netid.ID
	weight map[int]int
	seen   map[int]bool
	turn   int

	inSight map[int]bool // seen for more than its team
}

func newSlow(c Config) *slow {
	return &slow{cfg: c.withDefaults(), left: map[int]int{}, id: map[int]netid.ID{}, weight: map[int]int{},
		seen: map[int]bool{}, inSight: map[int]bool{}}
}

func (s *slow) look(g *Grid, sc *scene, v Viewer, opponents []uint64) {
	from := g.Cell(v.X, v.Z)
	for slot, id := range sc.ids {
		before := s.seen[slot]
		if id == 0 {
			s.seen[slot], s.inSight[slot], s.weight[slot] = false, false, 0
			s.left[slot] = max(s.left[slot]-1, 0)
			continue
		}
		to := g.Cell(sc.x[slot], sc.z[slot])
		dx, dz := to%s.cfg.Wide-from%s.cfg.Wide, to/s.cfg.Wide-from/s.cfg.Wide
		far := math.Sqrt(float64(dx*dx + dz*dz))
		now := slot == v.Slot ||
			far <= float64(s.cfg.ViewDistance) && (s.cfg.Visible == nil || s.cfg.Visible(from, to))
		s.inSight[slot] = now || s.left[slot] > 0 && s.id[slot] == id
		seen := s.inSight[slot] || v.Team != 0 && sc.team[slot] == v.Team
		s.left[slot] = max(s.left[slot]-1, 0)
		if now {
			s.left[slot], s.id[slot] = s.cfg.Hysteresis, id
		}
		s.seen[slot] = seen
		if !seen {
			s.weight[slot] = 0
			continue
		}
		w := s.cfg.Weights
		gain := int(w.Visible)
		if far <= float64(s.cfg.Mid) {
			gain += int(w.Mid)
		}
		if far <= float64(s.cfg.Near) {
			gain += int(w.Near)
		}
		if v.DirX != 0 || v.DirZ != 0 {
			cone := g.newCone(v)
			if lo, hi := cone.bounds(to / s.cfg.Wide); lo <= float32(to%s.cfg.Wide) &&
				float32(to%s.cfg.Wide) <= hi {
				gain += int(w.Ahead)
			}
		}
		if has(sc.combat, slot) || has(opponents, slot) {
			gain += int(w.Combat)
		}
		if !before {
			gain += int(w.New)
		}
		s.weight[slot] = min(s.weight[slot]+gain, maxPriority)
	}
}

// pick sorts the visible rows.
func (s *slow) pick(cost []uint16, budget, slots int) (picked map[int]bool) {
	var order []int
	total := 0
	for slot := range cost {
		if s.seen[slot] && cost[slot] != 0 {
			order = append(order, slot)
			total += int(cost[slot])
		}
	}
	turn := func(slot int) int { return (slot - s.turn + slots) % slots }
	sort.Slice(order, func(i, j int) bool {
		a, b := order[i], order[j]
		if s.weight[a] != s.weight[b] {
			return s.weight[a] > s.weight[b]
		}
		return turn(a) < turn(b)
	})
	picked = map[int]bool{}
	for _, slot := range order {
		if budget -= int(cost[slot]); budget < 0 {
			s.turn = slot
			return picked
		}
		picked[slot] = true
	}
	return picked
}

func has(set []uint64, i int) bool { return i>>6 < len(set) && set[i>>6]>>(i&63)&1 != 0 }

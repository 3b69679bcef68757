package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/object"
)

// Item lies on the map until a player that can use it walks over it, and is there again some time
// later.
type Item struct {
	Pos   geom.Vec3 // its foot
	Kind  uint32    // of Game.Items
	Taken tick.Tick // tick of the pickup; 0 while it is there
	Back  tick.Tick // tick at which it is there again
	By    netid.ID  // the player that has taken it
}

// pageItem is the page of their net ids.
const pageItem = 11

const dItems Datum = "items"

// items is the resource of their column.
type items struct{ all []Item }

func init() {
	declareKind(&kindSpec{
		name: "item", page: pageItem, datum: dItems, is: "items, and when they were taken",
		columns: []columnSpec{column[Item](full)},
		count:   func(m *Match) int { return len(m.layout().Items) },
		place:   placeItems,
		restart: placeItems,
		bind:    bindItems,
		valid:   validItems,
		systems: []placedSystem{{"damage", System{
			"items", "gives items to the living players that walk over them and can use them",
			[]Datum{dItems, dMotion, dVital, dAbility}, []Datum{dItems, dVital, dAbility}, Server, runItems,
		}}},
	})
}

// placeItems writes all items, none of them taken.
func placeItems(m *Match) {
	all := ecs.Resource[items](m.World).all
	for i, o := range m.layout().Items {
		all[i] = Item{Pos: o.Pos, Kind: uint32(o.Kind)}
	}
}

func bindItems(m *Match) {
	r := ecs.Resource[items](m.World)
	if r == nil {
		r = &items{}
		ecs.SetResource(m.World, r)
	}
	r.all = rowsOf[Item](m, pageItem)
}

func validItems(m *Match) error {
	for i, t := range ecs.Resource[items](m.World).all {
		o := &m.layout().Items[i]
		if t.Pos != o.Pos || t.Kind != uint32(o.Kind) || t.Taken > m.Tick() || t.Taken == 0 && t.Back != 0 ||
			t.Taken != 0 && t.Back != t.Taken+m.rules.ticks(m.kit.game.Items[o.Kind].RespawnMillis) {
			return wrong("item", t)
		}
	}
	return nil
}

// runItems puts items back whose time has come, and gives those that are there to players.
func runItems(c *columns) {
	if c.match.World.Count(c.match.kinds[pageItem]) == 0 {
		return
	}
	all := ecs.Resource[items](c.match.World).all
	for i := range all {
		t := &all[i]
		if t.Taken != 0 && c.clock.Tick >= t.Back {
			t.Taken, t.Back, t.By = 0, 0, 0
		}
		if t.Taken == 0 {
			c.offer(t, &c.match.kit.game.Items[t.Kind])
		}
	}
}

// offer gives an item to the nearest living player at it that can use it.
func (c *columns) offer(t *Item, k *object.ItemKind) {
	row := c.nearest(t.Pos, k.Radius, func(row int) bool { return c.canUse(row, k) })
	if row < 0 {
		return
	}
	t.Taken, t.Back, t.By = c.clock.Tick, c.clock.Tick+c.match.rules.ticks(k.RespawnMillis), c.id[row]
	v, h := &c.vital[row], c.kit.Hero(c.vital[row].Hero)
	if k.Gives == object.GivesAmmo {
		h.Refill(&c.ability[row])
		v.Pushes++ // the client cannot predict it
		return
	}
	v.Health = int16(min(int32(v.Health)+k.Heal, int32(h.Health())))
}

// canUse reports whether an item of a kind changes anything for a living player.
func (c *columns) canUse(row int, k *object.ItemKind) bool {
	v := &c.vital[row]
	h := c.kit.Hero(v.Hero)
	if k.Gives == object.GivesAmmo {
		return h.CanRefill(&c.ability[row])
	}
	return v.Health < h.Health()
}

// Items is the number of items of a match.
func Items(m *Match) int { return len(ecs.Resource[items](m.World).all) }

// ItemOf is item i of a match in the order of its map; false if there is none.
func ItemOf(m *Match, i int) (t Item, ok bool) {
	all := ecs.Resource[items](m.World).all
	if i < 0 || i >= len(all) {
		return t, false
	}
	return all[i], true
}

package server

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

func TestConfigOfThings(t *testing.T) {
	crowded := sim.DefaultGame()
	crowded.Layout.Barrels = make([]geom.Vec3, netstate.MaxStanding+1)
	for i, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{ObjectUpdateIntervals: netstate.UpdateIntervals{netstate.Cube: netstate.MaxUpdateInterval +
			1}}, "expected at most 16 snapshots"},
		{Config{Rules: sim.Rules{Game: crowded}}, "241 static objects on the map: expected at most 240"},
	} {
		c.cfg.Arena, c.cfg.ArenaName, c.cfg.Netcode = ground(), "arena-16", testNetcodeConfig()
		if _, err := NewLobby(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

// A frame of a tick that is not sent is read without a change to what is sent later: flights have
// ended, and others wait for slots.
func TestObjectFrameIsARead(t *testing.T) {
	b := newClientLobby(t, 4, Config{Players: 4, SendInterval: 4, Rules: sim.Rules{Mix: true}})
	b.firing(3)
	b.play(1)
	o, read, ended := b.lobby.replication.objects, 0, 0
	for range 600 {
		b.tickAll()
		now := b.lobby.match.Tick()
		if o.frames.At(now) != nil {
			continue
		}
		before, static, space, version := o.table.clone(), slices.Clone(o.static), o.space.at, o.version
		object, row := o.object, o.row
		f := b.lobby.ObjectFrame(now)
		read++
		if f.Tick != now || !reflect.DeepEqual(before, o.table) || !slices.Equal(static, o.static) ||
			space != o.space.at || version != o.version || object != o.object || row != o.row {
			t.Fatalf("tick %d: a read of the frame of tick %d has changed the object table", now, f.Tick)
		}
		for slot := range o.table.slots {
			if o.table.taken(slot) && f.ID(slot) == 0 {
				ended++
			}
		}
	}
	if read < 300 || ended < 10 {
		t.Errorf("%d frames read, %d flights had ended in them", read, ended)
	}
}

// An ack tag keeps its values in the largest lobby.
func TestAckTag(t *testing.T) {
	for _, c := range []struct {
		owner            bool
		players, objects groupRange
	}{{}, {true, groupRange{0, 256}, groupRange{0, 127}}, {false, groupRange{255, 1}, groupRange{126, 1}},
		{true, groupRange{17, 3}, groupRange{}}, {false, groupRange{}, groupRange{5, 40}}} {
		r := packetContent{1<<32 - 1, c.owner, c.players, c.objects}.ackTag()
		if r.tick() != 1<<32-1 || r.owner() != c.owner || r.players() != c.players ||
			r.objects() != c.objects {
			t.Errorf("%+v became %v %v %v %v", c, r.tick(), r.owner(), r.players(), r.objects())
		}
	}
	if n := netstate.ObjectSlots(MaxPlayers) / 16; n > 127 {
		t.Errorf("%d groups of objects do not fit a tag", n)
	}
}

// With more flights than slots the later flights wait and are counted. A free slot is taken with
// another generation, and a flight keeps its slot.
func TestMoreFlightsThanSlots(t *testing.T) {
	cfg := Config{Players: 1, Arena: ground(), ArenaName: "arena-16", Netcode: testNetcodeConfig()}
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := sim.New(1, cfg.Rules, cfg.Arena)
	w := newObjectRows(&cfg, m)
	var flights []object.Projectile
	next := func() {
		m.Begin()
		for i := range sim.Systems() {
			m.Run(i)
		}
		m.End()
		m.Objects().Projectiles = flights
		w.capture(m)
	}
	next()
	slots, fixed := netstate.ObjectSlots(1), w.table.static
	o := m.Objects()
	for i := range 400 {
		flights = append(flights,
			object.Launch(netid.Make(sim.FirstProjectile+i, 1), object.Trajectory{
				Start: geom.Vec3{Y: 900, X: float32(i)}, Pitch: 0x4000, Tick: m.Tick(),
				Owner: netid.Make(0, 1), Type: 2}, tick.View{}))
	}
	next()
	if want := uint64(fixed + 400 - slots); w.table.dropped != want || w.frame.ID(slots-1) == 0 {
		t.Fatalf("%d flights have no slot, want %d", w.table.dropped, want)
	}
	before := map[netid.ID]netid.ID{} // by the replicated id: the match's
	for i := range w.table.slots {
		before[w.table.slots[i].id] = w.table.slots[i].matchID
	}
	flights = flights[100:]
	next() // slots are freed at the end of it
	next()
	if w.table.dropped != uint64(max(0, fixed+300-slots)) {
		t.Errorf("%d flights have no slot", w.table.dropped)
	}
	told := map[netid.ID]bool{}
	for i := range w.table.slots {
		c := &w.table.slots[i]
		if told[c.matchID] && c.matchID != 0 {
			t.Fatalf("%v has two slots", c.matchID)
		}
		told[c.matchID] = true
		if was, ok := before[c.id]; ok && was != c.matchID {
			t.Fatalf("slot %d was %v and is %v under the same id %v", i, was, c.matchID, c.id)
		}
	}
	for i := range o.Projectiles[:slots-fixed] {
		if !told[o.Projectiles[i].ID] {
			t.Fatalf("flight %d is not told", i)
		}
	}
}

package server

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// wireReader is a client of a lobby that decodes what its datagrams hold, row by row, and knows
// nothing else of the match.
type wireReader struct {
	*testClient
	owner             *snapshot.OwnerReader
	players, objects  *snapshot.Decoder
	own, public, kind *snapshot.Meter // bits by field of these three
	self              []int32         // newest owner row
	newest            tick.Tick
	sections          []byte // of all snapshots that came
	told              [effect.MaxItems]effect.Item
}

// newWireReader joins a lobby as a player, or as change says.
func newWireReader(l *testLobby, change func(*netcode.Mint)) *wireReader {
	l.t.Helper()
	c := l.newClient("")
	c.connect(change)
	c.ready()
	m, interval, players := l.lobby.cfg.Models, tick.Tick(c.welcome.SendInterval), int(c.welcome.MaxPlayers)
	return &wireReader{testClient: c,
		owner:   snapshot.NewOwnerReader(m.Owner, interval),
		players: snapshot.NewDecoder(m.Public, players, interval),
		objects: snapshot.NewDecoder(m.Objects, netstate.ObjectSlots(players), interval),
		own:     snapshot.NewMeter(netstate.Owner), public: snapshot.NewMeter(netstate.Public),
		kind: snapshot.NewMeter(netstate.Objects),
		self: make([]int32, netstate.OwnerFields),
	}
}

// read decodes the snapshots that arrived.
func (w *wireReader) read() {
	t := w.host.t
	t.Helper()
	for _, s := range w.receive() {
		w.sections = append(w.sections, s...)
		h, rest, err := netstate.ParseHeader(s[1:])
		if err != nil {
			t.Fatal(err)
		}
		if h.Owner {
			row, _, err := w.owner.Parse(h.Tick, rest)
			if err != nil {
				t.Fatal(err)
			}
			copy(w.self, row)
			if rest, err = w.owner.Explain(w.own, h.Tick, rest); err != nil {
				t.Fatal(err)
			}
		}
		if h.Objects {
			runs, _, after, err := h.CutObjects(rest)
			if err == nil {
				err = w.objects.Section(h.Tick, runs)
			}
			if err == nil {
				err = w.objects.Explain(w.kind, h.Tick, runs)
			}
			if err != nil {
				t.Fatal(err)
			}
			rest = after
		}
		if h.Effects {
			if _, rest, err = w.host.lobby.replication.effects.format.Parse(h.Tick, rest, &w.told); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.players.Section(h.Tick, rest); err != nil {
			t.Fatal(err)
		}
		if err := w.players.Explain(w.public, h.Tick, rest); err != nil {
			t.Fatal(err)
		}
		w.newest = h.Tick
	}
}

// row is the newest row that the reader holds in a slot of players, or id 0.
func (w *wireReader) row(d *snapshot.Decoder, slot int, dst []int32) netid.ID {
	if f := d.Before(slot, w.newest); f != nil {
		return f.Row(slot, dst)
	}
	return 0
}

// playReaders runs ticks in which each reader sends its command.
func playReaders(l *testLobby, readers []*wireReader, ticks int,
	command func(n int, at tick.Tick) sim.Command) {
	l.t.Helper()
	for range ticks {
		for n, r := range readers {
			r.sendSections(section(command(n, l.lobby.match.Tick()+1))...)
		}
		l.tick()
		for _, r := range readers {
			r.read()
		}
	}
}

// still is a command that does nothing.
func still(_ int, at tick.Tick) sim.Command { return sim.Command{Tick: at} }

// TestRow30OwnerFieldsAreInNoOtherBytes is row 30 on the wire: two lobbies differ in what only one
// player may know of itself. Its own datagrams differ in just those fields; those of team-mates,
// opponents and a spectator that has its view are equal, byte by byte.
func TestRow30OwnerFieldsAreInNoOtherBytes(t *testing.T) {
	const secretive = 1 // the reader with the secret
	play := func(secret func(l *testLobby, id netid.ID), ahead tick.Tick) []*wireReader {
		l := newTestLobby(t, Config{Arena: field(t), ArenaName: "field", Players: 8, Spectators: 1})
		var readers []*wireReader
		for range 4 {
			readers = append(readers, newWireReader(l, nil))
		}
		readers = append(readers, newWireReader(l, spectator))
		playReaders(l, readers, 60, still)
		if secret != nil {
			secret(l, readers[secretive].id())
		}
		playReaders(l, readers, 40, func(n int, at tick.Tick) sim.Command {
			if n == secretive {
				return sim.Command{Tick: at + ahead}
			}
			return sim.Command{Tick: at}
		})
		return readers
	}
	plain := play(nil, 0)
	for _, c := range []struct {
		name   string // of the field
		secret func(l *testLobby, id netid.ID)
		ahead  tick.Tick // of its commands
	}{
		{name: "pushes", secret: func(l *testLobby, id netid.ID) { l.lobby.match.Vital(id).Pushes++ }},
		{name: "starved", secret: func(l *testLobby, id netid.ID) {
			l.lobby.match.CommandBuffer(id).Count.Missing += 3
		}},
		{name: "lead", ahead: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n, got := range play(c.secret, c.ahead) {
				want := plain[n]
				var differ []string
				for f, v := range got.self {
					if v != want.self[f] {
						differ = append(differ, netstate.Owner.Fields[f].Name)
					}
				}
				switch {
				case got.newest != want.newest || got.newest == 0:
					t.Fatalf("reader %d holds tick %d, not %d", n, got.newest, want.newest)
				case n == secretive && !slices.Contains(differ, c.name):
					t.Errorf("its owner is told the difference in %v, want %s", differ, c.name)
				case n != secretive && !bytes.Equal(got.sections, want.sections):
					t.Errorf("reader %d is sent other bytes", n)
				case n != secretive && differ != nil:
					t.Errorf("reader %d: its own row differs in %v", n, differ)
				}
			}
		})
	}
}

// changes collects which fields of a table change.
type changes struct {
	was  map[int][]int32 // by slot
	seen []bool          // by field
}

func (c *changes) note(slot int, row []int32) {
	if was := c.was[slot]; was != nil {
		for f, v := range row {
			c.seen[f] = c.seen[f] || v != was[f]
		}
	}
	c.was[slot] = slices.Clone(row)
}

// masked fails unless all fields with bits of updates are fields that changed. A change that was
// predicted takes no bits.
func (c *changes) masked(t *testing.T, m *snapshot.Meter, s schema.Schema) (sent []string) {
	t.Helper()
	for f, field := range s.Fields {
		bits := m.Bits(f, snapshot.ReasonUpdate)
		if bits != 0 && !c.seen[f] {
			t.Errorf("%s.%s: %d bits without a change", s.Name, field.Name, bits)
		}
		if bits != 0 {
			sent = append(sent, field.Name)
		}
	}
	return sent
}

// TestRow30MasksSendWhatChanged is the other half of row 30: a field that does not change has no
// bit in any datagram, in rows of others and in one's own.
func TestRow30MasksSendWhatChanged(t *testing.T) {
	for codec := range schema.Codecs {
		if codec == schema.Stored {
			continue // sends everything
		}
		l := newTestLobby(t, Config{Arena: field(t), ArenaName: "field", Players: 8, Codec: codec})
		readers := []*wireReader{newWireReader(l, nil), newWireReader(l, nil), newWireReader(l, nil)}
		playReaders(l, readers, 120, still)
		r := readers[0]
		r.own.Reset()
		r.public.Reset()
		public := changes{map[int][]int32{}, make([]bool, netstate.PublicFields)}
		own := changes{map[int][]int32{0: slices.Clone(r.self)}, make([]bool, netstate.OwnerFields)}
		for slot := range readers {
			row := make([]int32, netstate.PublicFields)
			r.row(r.players, slot, row)
			public.note(slot, row)
		}
		for range 60 {
			playReaders(l, readers, 1, func(n int, at tick.Tick) sim.Command {
				c := sim.Command{Tick: at}
				if n == 1 { // looks about
					c.Yaw, c.Pitch = geom.Angle(at*200), geom.Angle(at*7)
				}
				return c
			})
			own.note(0, r.self)
			for slot := range readers {
				row := make([]int32, netstate.PublicFields)
				r.row(r.players, slot, row)
				public.note(slot, row)
			}
		}
		sent := public.masked(t, r.public, netstate.Public)
		if !slices.Contains(sent, "yaw") || slices.Contains(sent, "x") ||
			slices.Contains(sent, "health") || slices.Contains(sent, "score") {
			t.Errorf("%v: others were sent %v", codec, sent)
		}
		if sent := own.masked(t, r.own, netstate.Owner); slices.Contains(sent, "pos.x") ||
			slices.Contains(sent, "rounds.0") {
			t.Errorf("%v: of itself it was sent %v", codec, sent)
		}
	}
}

// presence counts pairs of a receiver and an entity: all pairs, those whose rows the receiver is
// due, and those whose rows it holds.
type presence struct{ pairs, due, held int }

// wireTable is the table of who is sent what: for each component, by what an entity is to the
// receiver or to the player whose view a spectator has.
type wireTable struct {
	lobby *Lobby
	fog   bool // team-mates are visible only in view distance
	cells map[string]*presence
}

func (x *wireTable) note(component, relation string, due, held bool) {
	p := x.cells[component+" of "+relation]
	if p == nil {
		p = &presence{}
		x.cells[component+" of "+relation] = p
	}
	p.pairs++
	if due {
		p.due++
	}
	if held {
		p.held++
	}
}

// relation is what the player in a slot is to a receiver with the view of another.
func (x *wireTable) relation(r *wireReader, view, slot int) (name string, near bool) {
	m := x.lobby.match
	near = !x.lobby.replication.outOfRange(m.Poses()[view].Pos, m.Poses()[slot].Pos)
	distance := map[bool]string{true: "near", false: "far"}[near]
	a, b := m.Vital(netid.ID(m.Poses()[view].ID)), m.Vital(netid.ID(m.Poses()[slot].ID))
	switch {
	case slot == r.id().Index():
		return "oneself", true
	case slot == view:
		return "a spectator's target", true
	case a.Team == b.Team:
		return "a team-mate, " + distance, near
	}
	return "an opponent, " + distance, near
}

// players notes the owner's and public rows of all players that a reader holds.
func (x *wireTable) players(t *testing.T, r *wireReader) {
	f, view := x.lobby.replication.players.frames.At(r.newest), r.state().viewpoint()
	self := netstate.SelfOf(r.self)
	got, want := make([]int32, netstate.PublicFields), make([]int32, netstate.PublicFields)
	for slot := range f.Slots() {
		id := f.Row(slot, want)
		if id == 0 {
			continue
		}
		relation, near := x.relation(r, view, slot)
		motion, abilities, _ := x.lobby.match.Self(id)
		same := self.Motion.Pos == motion.Pos && self.Abilities.Slots[0].Load == abilities.Slots[0].Load
		x.note("owner's row", relation, id == r.id(), same)
		held := r.row(r.players, slot, got) == id
		if held && !slices.Equal(got, want) {
			t.Errorf("reader %v holds %v of %v, not %v", r.id(), got, id, want)
		}
		x.note("public row", relation, near || !x.fog && strings.HasPrefix(relation, "a team-mate"), held)
	}
}

// farOfFlights is further than any grenade flies beyond the view distance, in metres.
const farOfFlights = 16

// objects notes the rows of all objects that a reader holds.
func (x *wireTable) objects(r *wireReader) {
	f := x.lobby.replication.objects.frames.At(r.newest)
	eye := x.lobby.match.Poses()[r.state().viewpoint()].Pos
	row := make([]int32, len(netstate.Objects.Fields))
	for slot := range f.Slots() {
		id := f.Row(slot, row)
		if id == 0 {
			continue
		}
		var o netstate.ObjectState
		o.Restore(row)
		held := r.row(r.objects, slot, row) == id
		near := !x.lobby.replication.outOfRange(eye, o.Pos)
		switch {
		case o.Kind == netstate.Teleporter || o.Kind == netstate.Zone:
			x.note(o.Kind.String(), "anywhere", true, held)
		case o.Kind.Flies() && netid.ID(o.Owner) == r.id():
			x.note("flight", "oneself", true, held)
		case o.Kind.Flies() && near:
			x.note("flight", "another, near", true, held)
		case o.Kind.Flies() && eye.Sub(o.Pos).Len() > farOfFlights:
			x.note("flight", "another, far", false, held)
		case !o.Kind.Flies():
			x.note(o.Kind.String(), map[bool]string{true: "near", false: "far"}[near], near, held)
		}
	}
}

// check fails unless every cell has pairs, and all of them or none are due rows and hold them.
func (x *wireTable) check(t *testing.T, least int) {
	var lines []string
	for name, p := range x.cells {
		if p.held != p.due || p.due != 0 && p.due != p.pairs {
			t.Errorf("fog %v: %s: %d pairs, %d are due rows, %d hold them",
				x.fog, name, p.pairs, p.due, p.held)
		}
		lines = append(lines, fmt.Sprintf("%-45s %4d of %4d", name, p.held, p.pairs))
	}
	if slices.Sort(lines); len(lines) != least {
		t.Errorf("fog %v: %d cells, want %d", x.fog, len(lines), least)
	}
	t.Logf("fog %v\n%s", x.fog, strings.Join(lines, "\n"))
}

// TestRow63WhoIsSentWhichRows is row 63 on the wire: the table of who is sent which component of
// which entity, as 16 players and two spectators decode it from their datagrams. The owner's row,
// from which a client predicts, goes to that player alone. Public rows, which it interpolates, are
// of players that it may see. Flights, which both ends compute, go to their owner and to those who
// see them, teleporters and capture points to all.
func TestRow63WhoIsSentWhichRows(t *testing.T) {
	alone(t)
	game := sim.DefaultGame()
	game.Layout.Barrels = []geom.Vec3{{X: 1, Z: 4}, {X: 44, Z: 4}}
	game.Layout.Teleporters = []object.Teleporter{{Box: geom.AABB{Min: geom.Vec3{X: 50, Y: -1, Z: 10},
		Max: geom.Vec3{X: 54, Y: 2, Z: 14}}}}
	game.Layout.Points = []object.Zone{object.DefaultZone(geom.Vec3{X: 22, Z: 16})}
	for _, fog := range []bool{false, true} {
		l := newTestLobby(t, Config{Arena: field(t), ArenaName: "field", Players: 16, Spectators: 2,
			TeamFog: fog, Relevance: RelevanceGrid, CellSize: 4, ViewDistance: 8,
			Rules: sim.Rules{Game: game}})
		var readers []*wireReader
		for range 16 {
			readers = append(readers, newWireReader(l, nil))
		}
		readers = append(readers, newWireReader(l, spectator), newWireReader(l, spectator))
		playReaders(l, readers, 120, still)
		playReaders(l, readers, 90, func(n int, at tick.Tick) sim.Command {
			if n == 0 && at%30 < 3 {
				return sim.Command{Tick: at, Buttons: sim.Throw}
			}
			return sim.Command{Tick: at}
		})
		table := wireTable{l.lobby, fog, map[string]*presence{}}
		for _, r := range readers {
			table.players(t, r)
			table.objects(r)
		}
		table.check(t, 19)
	}
}

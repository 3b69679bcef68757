package server

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
)

// TestTurnsReachEveryGroup: while groups are added and intervals are missed, each group that is in
// use is in one of as many snapshots as there are turns, wherever a client begins. A snapshot has the
// part of its interval, and no other one unless an interval was missed.
func TestTurnsReachEveryGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for range 2000 {
		turns, groups := 2+rng.IntN(3), 1+rng.IntN(70)
		interval, missed := rng.IntN(turns), 0
		turn := rowTurn{part: uint8((interval + turns - 1) % turns)}
		waited := make([]int, 256)
		for n := range 40 {
			first, end := turn.next(interval%turns, turns, groups)
			at := int(turn.groups)
			own, past := interval%turns*at/turns, (interval%turns+1)*at/turns
			if first > own || end < past {
				t.Fatalf("interval %d of %d turns: groups %d to %d lack %d to %d", interval, turns, first, end, own, past)
			}
			if missed%turns == 0 && (first < own || end > past && end != groups) {
				t.Fatalf("interval %d of %d turns: groups %d to %d, want %d to %d", interval, turns, first, end, own, past)
			}
			for g := range groups {
				if waited[g]++; first <= g && g < end {
					waited[g] = 0
				}
				if n >= turns && waited[g] >= turns {
					t.Fatalf("%d turns, %d groups: group %d waits for %d snapshots", turns, groups, g, waited[g])
				}
			}
			if missed = 0; rng.IntN(6) == 0 {
				missed = rng.IntN(6)
			}
			interval += 1 + missed
			if rng.IntN(4) == 0 && groups < 200 {
				for range rng.IntN(3) {
					waited[groups] = 0
					groups++
				}
			}
		}
	}
}

// TestNearestBySquares: near players are those of the largest square of cells that has no more than
// asked for, and of all cells around; a search by brute force finds the same.
func TestNearestBySquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 65))
	cfg := &Config{Arena: arena.Generate(200, 3), Players: 200}
	p := newPlaces(cfg)
	b := cfg.Arena.Bounds
	for range 300 {
		place := make([][2]int, cfg.Players)
		crowd := rng.IntN(2) * 5
		own := rng.IntN(cfg.Players)
		for slot := range place {
			x := b.Min.X + rng.Float32()*(b.Max.X-b.Min.X)/float32(1+crowd)
			z := b.Min.Z + rng.Float32()*(b.Max.Z-b.Min.Z)/float32(1+crowd)
			if p.cell[slot] = noCell; slot == own || rng.IntN(5) > 0 {
				p.cell[slot] = uint16(p.cellOf(x, z))
			}
			place[slot] = [2]int{int(p.cell[slot]) % p.wide, int(p.cell[slot]) / p.wide}
		}
		most := 1 + rng.IntN(64)
		near := func(radius int) (set []uint64, n int) {
			set = make([]uint64, 4)
			for other, at := range place {
				dx, dz := at[0]-place[own][0], at[1]-place[own][1]
				if p.cell[other] != noCell && max(dx, -dx) <= radius && max(dz, -dz) <= radius {
					set[other>>6] |= 1 << (other & 63)
					n++
				}
			}
			return set, n
		}
		p.sort()
		radius := 1
		for radius < max(p.wide, p.deep) {
			if _, n := near(radius + 1); n > most {
				break
			}
			radius++
		}
		want, _ := near(radius)
		got := make([]uint64, 4)
		if p.addNear(got, own, most); [4]uint64(got) != [4]uint64(want) {
			t.Fatalf("radius %d, at most %d: %x, want %x", radius, most, got, want)
		}
	}
}

// TestTurnsOfALargeLobby: in a lobby where far players take turns each client is sent each player
// in two snapshots at most, itself, the near ones and its opponents in each. What is not sent waits
// for its turn, and is explained so. Low detail has four turns.
func TestTurnsOfALargeLobby(t *testing.T) {
	alone(t)
	const players, nearest = 60, 5
	b := newClientLobby(t, players, Config{Players: players, NearestPlayers: nearest, SampleEvery: 1})
	b.turnPlayers(8)
	b.play(6)
	l := b.lobby
	check := func(selection rowSelection, turns int, reason Reason) {
		t.Helper()
		last := map[[2]int]int{}
		count := make([]int, l.cfg.Players)
		snapshots, waits, opponents := 0, 0, 0
		for range 3 * 24 {
			b.tickAll()
			for _, viewer := range l.live {
				c := &l.conns[viewer]
				if c.repl.pacing.sent != l.match.Tick() {
					continue
				}
				if c.repl.view.selection != selection {
					t.Fatalf("selected as %d", c.repl.view.selection)
				}
				snapshots++
				count[viewer]++
				near := make([]uint64, 1)
				l.replication.players.places.addNear(near, int(viewer), nearest)
				if reason == ReasonLowDetail {
					clear(near)
				}
				fights := c.repl.view.combat[:1]
				for slot := range l.cfg.Players {
					if l.replication.frame().ID(slot) == 0 {
						continue
					}
					sent, _ := c.repl.acks.tracker.RowSent(slot)
					key := [2]int{int(viewer), slot}
					since, known := last[key]
					always := slot == int(viewer) || near[0]>>slot&1 != 0 ||
						reason == ReasonTurn && fights[0]>>slot&1 != 0
					switch why := l.Explain(c.id, l.replication.frame().ID(slot)); {
					case !sent && always:
						t.Fatalf("slot %d: near slot %d was left out", viewer, slot)
					case sent && why.Reason != ReasonSent || !sent && why.Reason != reason:
						t.Fatalf("sent %v, explained as %+v", sent, why)
					case !sent && known && count[viewer]-since >= turns:
						t.Fatalf("slot %d: slot %d waits since snapshot %d, now %d", viewer, slot, since, count[viewer])
					case sent:
						if last[key] = count[viewer]; fights[0]>>slot&1 != 0 {
							opponents++
						}
					default:
						waits++
					}
				}
			}
		}
		if snapshots < 5*players || waits < snapshots*players/8 || opponents == 0 && reason == ReasonTurn {
			t.Errorf("%d snapshots, %d rows waited, %d opponents: nothing tested", snapshots, waits, opponents)
		}
	}
	e := l.match.Tick()
	for slot := range tick.Tick(8) { // hits across the map
		l.replication.players.combatUntil[slot] = e
		l.conns[slot].repl.view.noteOpponent(int(slot) + 40)
	}
	check(rowsTurns, farTurns, ReasonTurn)
	l.SetLoadLevel(3)
	b.play(1)
	check(rowsLowDetail, lowDetailTurns.turns, ReasonLowDetail)
	l.SetLoadLevel(0)
	b.play(1)
	l.Publish()
	if s := l.Summary().Replication; s.Players[ReasonTurn] == 0 {
		t.Error("no sample counts turns")
	}
}

// TestTeamTurns: in a large team of a grid, each client is sent what is in its sight in each
// snapshot, and each team mate out of sight in one of two at least. What waits is explained so, and
// what is hidden is never sent.
func TestTeamTurns(t *testing.T) {
	alone(t)
	const players, nearest = 128, 20
	b := newClientLobby(t, players, Config{Players: players, NearestPlayers: nearest, SampleEvery: 1,
		Relevance: RelevanceGrid, ViewDistance: 4})
	b.turnPlayers(8)
	b.play(6)
	l := b.lobby
	last := map[[2]int]int{}
	count := make([]int, l.cfg.Players)
	snapshots, waits, blocks, hidden := 0, 0, 0, 0
	for range 2 * 24 {
		b.tickAll()
		for _, viewer := range l.live {
			c := &l.conns[viewer]
			v := &c.repl.view
			if c.repl.pacing.sent != l.match.Tick() {
				continue
			}
			if v.selection != rowsTeamTurns {
				t.Fatalf("selected as %d", v.selection)
			}
			snapshots++
			count[viewer]++
			own := l.match.Vital(l.replication.frame().ID(int(viewer))).Team
			for slot := range l.cfg.Players {
				id := l.replication.frame().ID(slot)
				if id == 0 {
					continue
				}
				sent, _ := c.repl.acks.tracker.RowSent(slot)
				mate := l.match.Vital(id).Team == own
				visible := v.interest.Visible()[slot>>6]>>(slot&63)&1 != 0
				inSight := v.interest.InSight()[slot>>6]>>(slot&63)&1 != 0
				key := [2]int{int(viewer), slot}
				since, known := last[key]
				switch why := l.Explain(c.id, id).Reason; {
				case visible != (mate || inSight):
					t.Fatalf("slot %d: slot %d: visible %v, a mate %v, in sight %v", viewer, slot, visible, mate, inSight)
				case sent != (why == ReasonSent):
					t.Fatalf("slot %d: slot %d: sent %v, explained as %v", viewer, slot, sent, why)
				case !visible:
					if hidden++; why != ReasonRange && why != ReasonOccluded {
						t.Fatalf("slot %d: hidden slot %d: %v", viewer, slot, why)
					}
				case inSight && !sent:
					t.Fatalf("slot %d: slot %d is in sight and was left out", viewer, slot)
				case sent:
					if last[key] = count[viewer]; !inSight {
						blocks++
					}
				case why != ReasonTurn || known && count[viewer]-since >= farTurns:
					t.Fatalf("slot %d: slot %d waits since snapshot %d, now %d: %v",
						viewer, slot, since, count[viewer], why)
				default:
					waits++
				}
			}
		}
	}
	t.Logf("%d snapshots; mates out of sight: %d sent, %d waited; %d hidden rows", snapshots, blocks, waits, hidden)
	if snapshots < 5*players || waits < 2*snapshots || blocks < waits/2 || blocks > 2*waits || hidden == 0 {
		t.Error("nothing tested")
	}
}

// A client that missed an interval is sent both parts; one whose selection or team is another begins
// with the part that is due.
func TestTurnsAfterAMiss(t *testing.T) {
	var turn rowTurn
	for i, c := range []struct {
		of         rowSelection
		team       uint8
		part       int
		first, end int
	}{
		{rowsTurns, 0, 1, 5, 10},
		{rowsTurns, 0, 0, 0, 5},
		{rowsTurns, 0, 0, 0, 10}, // part 1 was missed
		{rowsTurns, 0, 1, 5, 10},
		{rowsTeamTurns, 0, 1, 5, 10},
		{rowsTeamTurns, 1, 1, 5, 10},
	} {
		turn.due(c.of, c.team, c.part, farTurns)
		if first, end := turn.next(c.part, farTurns, 10); first != c.first || end != c.end {
			t.Errorf("case %d: groups %d to %d, want %d to %d", i, first, end, c.first, c.end)
		}
	}
}

package snapshot

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// slowTold is the slow reference of ledger.maybeVisible. It keeps for each slot the tick when a
// player was last shown there, and the newest acked tick that said the slot is empty.
type slowTold struct{ shown, empty []tick.Tick }

// may reports whether the client may take somebody to be in a slot.
func (s *slowTold) may(slot int) bool { return s.shown[slot] != 0 && s.empty[slot] <= s.shown[slot] }

// said is a snapshot in flight: the slots that it declared empty.
type said struct {
	at    tick.Tick
	free  bool // in blocks to somebody without a limit
	empty []int
}

// TestToldEqualsTwin: a client may take somebody to be where a snapshot showed somebody, in blocks
// or by a row, and none after that is acked says that nobody is; over a bad link, with acks that
// come late, with slots that change hands and clients that begin anew.
func TestToldEqualsTwin(t *testing.T) {
	const slots, groups = 7 * GroupRows, 7
	m := schema.DefaultModel(playerSchema)
	blocks, hides, rows := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		w := newWorld(playerSchema, slots, rng.Uint64(), 0.7, 0.02, 0.03)
		ring := NewRing(playerSchema, slots, Window, 1)
		e, k := NewEncoder(m, slots), NewTracker(groups*GroupRows, 1)
		k.Reserve()
		sees, full := newSomeSlots(rng, slots, 0.6, 0.1), []uint64{^uint64(0), ^uint64(0)}
		twin := slowTold{make([]tick.Tick, slots), make([]tick.Tick, slots)}
		free := tick.Tick(rapid.IntRange(0, 15).Draw(t, "without a limit"))
		// Once what is said from then on has arrived, nothing of before counts.
		settles, settled := tick.Tick(1), false
		var p Packer
		var way []said
		for now := tick.Tick(1); now < 120; now++ {
			w.step()
			w.capture(ring.Begin(now))
			e.Begin(ring.At(now), ring)
			if rng.IntN(40) == 0 {
				k.Forget()
				way = nil
			}
			k.Advance(now)
			packet, there, all := said{at: now, free: now%60 < free || rng.IntN(20) == 0}, ring.At(now), now%30 < 22
			switch {
			case packet.free:
				p.Begin(e, k, 0, groups)
				settles, settled = now+1, false
			case all && p.BeginWithin(e, k, 0, groups, 1<<30):
				blocks++
			case all:
				p.BeginRows(e, k, full)
				rows++
			default:
				p.BeginRows(e, k, sees.next())
				rows++
			}
			for !p.Done() {
				p.Next(nil, 1<<16)
			}
			for slot := range slots {
				i, bit, r := slot>>6, uint64(1)<<(slot&63), k.row(now)
				says, gone := k.RowSent(slot)
				if gone = gone && k.rows.hasRemoved>>r&1 != 0 && k.rows.removed(r)[i]&bit != 0; gone {
					hides++
				}
				switch {
				case slot/GroupRows >= e.inUse:
				case packet.free: // nobody accounts for it
					twin.shown[slot] = now
				case gone || says && there.ID(slot) == 0:
					packet.empty = append(packet.empty, slot)
				case says:
					twin.shown[slot] = now
				}
			}
			if rng.IntN(3) > 0 {
				way = append(way, packet)
			}
			for len(way) > 0 && (rng.IntN(3) > 0 || len(way) > 5) {
				n := rng.IntN(min(2, len(way)))
				got := way[n]
				way = append(way[:n], way[n+1:]...)
				k.Acked(got.at, 0, groups)
				for _, slot := range got.empty {
					twin.empty[slot] = max(twin.empty[slot], got.at)
				}
				if got.free {
					settles, settled = now+1, false
				} else if got.at >= settles {
					settled = true
				}
			}
			for slot := range slots {
				may, told := twin.may(slot), k.whole || has(k.rows.maybeVisible, slot)
				if may && !told || told && !may && settled && !packet.free && slot/GroupRows < e.inUse {
					t.Fatalf("tick %d: slot %d, shown last in %d, empty in %d: counts as told is %v, settled %v", now, slot, twin.shown[slot], twin.empty[slot], told, settled)
				}
			}
		}
	})
	if blocks < 1000 || rows < 300 || hides < 1000 {
		t.Errorf("%d snapshots in blocks, %d by rows, which say of %d slots that nobody is there", blocks, rows, hides)
	}
}

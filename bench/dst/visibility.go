package dst

import (
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/netstate"
)

// visibilityTicks is the number of ticks of visible sets kept: as long as clients keep frames.
const visibilityTicks = 256

// selfTicks is the number of ticks of players' own states kept.
const selfTicks = 256

// visibility is the set of players that each client may be sent, by brute force from positions.
type visibility struct {
	on         bool
	grid       grid
	rangeCells int // view distance, cells
	cells      []cell
	clients    []clientView // by client
}

type grid struct {
	minX, minZ, edge float32
	wide, deep       int
}

type cell struct {
	id   netid.ID
	x, z int
	team uint8
}

// clientView is the visible set of one client over the last ticks.
type clientView struct {
	hysteresis map[netid.ID]int // snapshots for which a player stays visible after leaving sight
	visible    [visibilityTicks]uint64
	at         [visibilityTicks]tick.Tick
}

// ownState is the server's own-player state of a client after a tick.
type ownState struct {
	at    tick.Tick
	id    netid.ID
	state netstate.Self
}

func (s *visibility) init(w *world) {
	g := server.GridConfig(w.cfg.Arena, w.cfg.CellSize)
	s.on = w.draw.Walls
	s.grid = grid{g.MinX, g.MinZ, g.Cell, g.Wide, g.Deep}
	s.rangeCells = int((w.cfg.ViewDistance+g.Cell-1)/g.Cell) + 1
	s.cells = make([]cell, w.cfg.Players)
	s.clients = make([]clientView, len(w.honest))
}

// begin clears the visible sets when a server starts.
func (s *visibility) begin() {
	for i := range s.clients {
		s.forget(i)
	}
}

// forget clears the visible sets of a client that reconnects.
func (s *visibility) forget(i int) { s.clients[i] = clientView{hysteresis: map[netid.ID]int{}} }

// update computes the visible sets of the clients that were sent a snapshot of this tick.
func (s *visibility) update(w *world) {
	if !s.on {
		return
	}
	m := w.Lobby.Match()
	now, filled := m.Tick(), false
	for i := range w.Clients {
		c := w.client(i)
		if c == nil || c.ID() == 0 || w.Lobby.Sent(c.ID()) != now {
			continue
		}
		if !filled {
			s.fill(w.Lobby.Frame(now), m.Poses())
			filled = true
		}
		s.clients[i].update(s, w, c.ID(), now)
	}
}

func (s *visibility) fill(f *snapshot.Frame, poses []rig.Pose) {
	for slot := range s.cells {
		p := poses[slot]
		s.cells[slot] = cell{id: f.ID(slot), team: p.Team(),
			x: min(max(int((p.Pos.X-s.grid.minX)/s.grid.edge), 0), s.grid.wide-1),
			z: min(max(int((p.Pos.Z-s.grid.minZ)/s.grid.edge), 0), s.grid.deep-1)}
	}
}

func (e *clientView) update(s *visibility, w *world, self netid.ID, now tick.Tick) {
	me, may := s.cells[self.Index()], uint64(0)
	for slot := range s.cells {
		c := &s.cells[slot]
		if c.id == 0 {
			continue
		}
		dx, dz := c.x-me.x, c.z-me.z
		near := dx*dx+dz*dz <= s.rangeCells*s.rangeCells
		if c.id == self || c.team == me.team || near && w.cfg.CellVisible(me.z*s.grid.wide+me.x, c.z*s.grid.wide+c.x) {
			may |= 1 << slot
			e.hysteresis[c.id] = w.cfg.Hysteresis
		} else if e.hysteresis[c.id] > 0 {
			may |= 1 << slot
			e.hysteresis[c.id]--
		}
	}
	for id := range e.hysteresis { // order-independent
		if s.cells[id.Index()].id != id {
			delete(e.hysteresis, id)
		}
	}
	e.visible[now%visibilityTicks], e.at[now%visibilityTicks] = may, now
}

// checkClient checks one honest client after a tick.
func (w *world) checkClient(i int, c *client.Client) {
	s := &w.honest[i]
	if state, why := c.State(); state == client.Denied {
		w.fail(Liveness, "client %d was denied: %v, %v", i, why, c.Err())
		return
	} else if state != client.Joined {
		return
	}
	if id := c.ID(); s.id != id && s.id != 0 {
		w.fail(Sessions, "client %d changed from %v to %v", i, s.id, id)
	} else {
		s.id = id
	}
	w.checkForwards(i, c)
	w.checkOwnState(i, c)
	if w.checksMessages(i) {
		w.checkKillMessages(i, c)
		w.checkChat(i, c)
	}
	if w.Now() > settled+2*time.Second && w.Lobby.Match().Tick()%8 == 0 {
		w.checkShownPlayers(i, c)
	}
	arrived := c.Newest() - min(c.Newest(), 12) // delayed datagrams of earlier ticks have arrived by now
	for t := max(s.compared+1, arrived-min(arrived, 60)); t <= arrived; t++ {
		w.checkRows(i, c, t)
	}
	s.compared = max(s.compared, arrived)
	if st := w.stats(c); st.undecoded != 0 || st.diverged != 0 {
		w.fail(Snapshots, "client %d could not decode %d sections, and decoded %d to rows that differ from the server's", i, st.undecoded, st.diverged)
	}
}

// checkRows checks that a client's rows of a tick equal the server's frame and hold no player that
// it must not see.
func (w *world) checkRows(i int, c *client.Client, t tick.Tick) {
	held := c.Frame(t)
	if held == nil {
		return
	}
	frame := w.Lobby.Frame(t)
	if frame == nil {
		return
	}
	e := &w.visibility.clients[i]
	may := ^uint64(0)
	if w.visibility.on && e.at[t%visibilityTicks] == t {
		may = e.visible[t%visibilityTicks]
	}
	for g := range held.Slots() / snapshot.GroupRows {
		known, there := held.Occupied(g)
		unlike := held.DiffRows(frame, g) & known
		if w.visibility.on || w.draw.Kbps > 0 {
			unlike &= there // the client was told that these rows are not visible
		}
		for ; unlike != 0; unlike &= unlike - 1 {
			w.failRow(i, held, frame, g*snapshot.GroupRows+bits.TrailingZeros16(unlike))
		}
		if leak := known & there &^ uint16(may>>(g*snapshot.GroupRows)); leak != 0 {
			w.fail(NoLeak, "client %d was sent in tick %d the row of %v, which it must not see", i, t, held.ID(g*snapshot.GroupRows+bits.TrailingZeros16(leak)))
		}
	}
}

// failRow reports a row that differs.
func (w *world) failRow(i int, held, frame *snapshot.Frame, slot int) {
	var row, want [netstate.PublicFields]int32
	id, is := held.Row(slot, row[:]), frame.Row(slot, want[:])
	w.fail(Snapshots, "client %d has %v %v in slot %d of tick %d, the server %v %v", i, id, row, slot, frame.Tick, is, want)
}

// checkShownPlayers checks that each player a client shows exists and is, or was a moment ago,
// visible to it.
func (w *world) checkShownPlayers(i int, c *client.Client) {
	now, e := w.Lobby.Match().Tick(), &w.visibility.clients[i]
	for slot := range w.cfg.Players {
		p, ok := c.Pose(slot)
		if !ok {
			continue
		}
		there, may := false, !w.visibility.on
		for t := now; t > 0 && t+100 > now; t-- {
			at := w.shots.pose(t, slot)
			there = there || at != nil && at.ID == p.ID
			may = may || e.at[t%visibilityTicks] == t && e.visible[t%visibilityTicks]>>slot&1 != 0
		}
		if !there || !may {
			w.fail(Snapshots, "client %d still shows %v, which is gone or has long been out of sight: exists %v, visible %v", i, netid.ID(p.ID), there, may)
		}
	}
}

// checkOwnState checks that a client's own-player state equals the server's at the tick it names.
func (w *world) checkOwnState(i int, c *client.Client) {
	m, s := w.Lobby.Match(), &w.honest[i]
	if now := m.Tick(); w.Lobby.Sent(c.ID()) == now {
		k := &s.ownStates[now%selfTicks]
		k.at, k.id, k.state = now, c.ID(), netstate.GatherSelf(m, c.ID())
	}
	got, at := c.Self()
	if at == s.ownTick {
		return
	}
	s.ownTick = at
	if k := &s.ownStates[at%selfTicks]; k.at != at || k.id != c.ID() {
		w.fail(Snapshots, "client %d holds of itself in tick %d %+v, but was sent nothing for that tick", i, at, got)
	} else if k.state != got {
		w.fail(Snapshots, "client %d holds of itself in tick %d %+v, the server knew %+v", i, at, got, k.state)
	}
}

// checkForwards checks that snapshots and views never go back, and that no view lies beyond the
// newest snapshot.
func (w *world) checkForwards(i int, c *client.Client) {
	s, v := &w.honest[i], c.View()
	if n := c.Newest(); n < s.newest {
		w.fail(Forwards, "client %d went back from snapshot %d to %d", i, s.newest, n)
	} else {
		s.newest = n
	}
	if v == (tick.View{}) {
		return
	}
	at := lagcomp.Instant(v)
	if at < s.view || !v.Valid() || v.To > c.Newest() {
		w.fail(Forwards, "client %d has view %v after %d/256, its newest snapshot is %d", i, v, s.view, c.Newest())
	}
	s.view = at
}

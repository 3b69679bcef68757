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

// grid is the server's grid of cells: its corner and the edge of a cell, metres, and its size,
// cells.
type grid struct {
	minX, minZ, edge float32
	wide, deep       int
}

// cell is a player's cell in the grid.
type cell struct {
	id   netid.ID
	x, z int
	team uint8
}

// clientView is the visible set of one client over the last ticks.
type clientView struct {
	hysteresis map[netid.ID]int           // snapshots that a player out of sight stays visible
	visible    [visibilityTicks]uint64    // bit n: slot n is visible
	at         [visibilityTicks]tick.Tick // ticks of the entries of visible
}

// ownState is the server's own-player state of a client after a tick.
type ownState struct {
	at    tick.Tick
	id    netid.ID
	state netstate.Self
}

func (s *visibility) init(r *run) {
	g := server.GridConfig(r.cfg.Arena, r.cfg.CellSize)
	s.on = r.drawn.Walls
	s.grid = grid{g.MinX, g.MinZ, g.Cell, g.Wide, g.Deep}
	s.rangeCells = int((r.cfg.ViewDistance+g.Cell-1)/g.Cell) + 1
	s.cells = make([]cell, r.cfg.Players)
	s.clients = make([]clientView, len(r.honest))
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
func (s *visibility) update(r *run) {
	if !s.on {
		return
	}
	m := r.Lobby.Match()
	now, filled := m.Tick(), false
	for i := range r.Clients {
		c := r.client(i)
		if c == nil || c.ID() == 0 || r.Lobby.Sent(c.ID()) != now {
			continue
		}
		if !filled {
			s.fill(r.Lobby.Frame(now), m.Poses())
			filled = true
		}
		s.clients[i].update(s, r, c.ID(), now)
	}
}

// fill finds the cell of each player from its pose. Positions outside the grid count to the nearest
// cell of its edge.
func (s *visibility) fill(f *snapshot.Frame, poses []rig.Pose) {
	for slot := range s.cells {
		p := poses[slot]
		s.cells[slot] = cell{id: f.ID(slot), team: p.Team(),
			x: min(max(int((p.Pos.X-s.grid.minX)/s.grid.edge), 0), s.grid.wide-1),
			z: min(max(int((p.Pos.Z-s.grid.minZ)/s.grid.edge), 0), s.grid.deep-1)}
	}
}

// update computes what one client may be sent in a snapshot: itself, its team, players in view, and
// players that left view less than the hysteresis ago.
func (e *clientView) update(s *visibility, r *run, self netid.ID, now tick.Tick) {
	me, visible := s.cells[self.Index()], uint64(0)
	for slot := range s.cells {
		c := &s.cells[slot]
		if c.id == 0 {
			continue
		}
		dx, dz := c.x-me.x, c.z-me.z
		near := dx*dx+dz*dz <= s.rangeCells*s.rangeCells
		from, to := me.z*s.grid.wide+me.x, c.z*s.grid.wide+c.x
		if c.id == self || c.team == me.team || near && r.cfg.CellVisible(from, to) {
			visible |= 1 << slot
			e.hysteresis[c.id] = r.cfg.Hysteresis
		} else if e.hysteresis[c.id] > 0 {
			visible |= 1 << slot
			e.hysteresis[c.id]--
		}
	}
	for id := range e.hysteresis { // order-independent
		if s.cells[id.Index()].id != id {
			delete(e.hysteresis, id)
		}
	}
	e.visible[now%visibilityTicks], e.at[now%visibilityTicks] = visible, now
}

// checkClient checks one honest client after a tick.
func (r *run) checkClient(i int, c *client.Client) {
	s := &r.honest[i]
	if state, why := c.State(); state == client.Denied {
		r.fail(Liveness, "client %d was denied: %v, %v", i, why, c.Err())
		return
	} else if state != client.Joined {
		return
	}
	if id := c.ID(); s.id != id && s.id != 0 {
		r.fail(Sessions, "client %d changed from %v to %v", i, s.id, id)
	} else {
		s.id = id
	}
	r.checkForwards(i, c)
	r.checkOwnState(i, c)
	if r.checksMessages(i) {
		r.checkKillMessages(i, c)
		r.checkChat(i, c)
	}
	// A client whose session was lost shows the players of before until the session times out.
	if r.Now() > max(r.when.settled+2*time.Second, lost) && r.Lobby.Match().Tick()%8 == 0 {
		r.checkShownPlayers(i, c)
	}
	// Delayed datagrams of ticks up to arrived are there by now.
	arrived := c.Newest() - min(c.Newest(), 12)
	for t := max(s.compared+1, arrived-min(arrived, 60)); t <= arrived; t++ {
		r.checkRows(i, c, t)
	}
	s.compared = max(s.compared, arrived)
	if st := r.stats(c); st.undecoded != 0 || st.diverged != 0 {
		r.fail(Snapshots, "client %d could not decode %d sections, and decoded %d to other rows",
			i, st.undecoded, st.diverged)
	}
}

// checkRows checks that a client's rows of a tick equal the server's frame and hold no player that
// it must not see.
func (r *run) checkRows(i int, c *client.Client, t tick.Tick) {
	got := c.Frame(t)
	if got == nil {
		return
	}
	frame := r.Lobby.Frame(t)
	if frame == nil {
		return
	}
	e := &r.visibility.clients[i]
	visible := ^uint64(0)
	if r.visibility.on && e.at[t%visibilityTicks] == t {
		visible = e.visible[t%visibilityTicks]
	}
	for g := range got.Slots() / snapshot.GroupRows {
		first := g * snapshot.GroupRows
		known, occupied := got.Occupied(g)
		differ := got.DiffRows(frame, g) & known
		if r.visibility.on || r.drawn.Kbps > 0 {
			differ &= occupied // the client was told that the other rows are not visible
		}
		for ; differ != 0; differ &= differ - 1 {
			r.failRow(i, got, frame, first+bits.TrailingZeros16(differ))
		}
		if leak := known & occupied &^ uint16(visible>>first); leak != 0 {
			r.fail(NoLeak, "client %d was sent in tick %d the row of %v, which it must not see",
				i, t, got.ID(first+bits.TrailingZeros16(leak)))
		}
		r.honest[i].noteRows(t, first, known, r.cfg.Players)
	}
	r.checkRowAges(i, frame)
}

// noteRows notes that a snapshot has the known rows of the group that begins at slot first.
func (s *honest) noteRows(t tick.Tick, first int, known uint16, slots int) {
	if s.rowTicks == nil {
		s.rowTicks = make([]tick.Tick, (slots+snapshot.GroupRows-1)/snapshot.GroupRows*snapshot.GroupRows)
	}
	for ; known != 0; known &= known - 1 {
		s.rowTicks[first+bits.TrailingZeros16(known)] = t
	}
}

// checkRowAges checks that a client that may see all players, without a limit, gets each of them
// several times a second. It checks clients that play normally.
func (r *run) checkRowAges(i int, frame *snapshot.Frame) {
	s := &r.honest[i]
	if r.visibility.on || r.drawn.Kbps > 0 || r.Now() < s.settleAt+time.Second {
		return
	}
	for slot, last := range s.rowTicks {
		if id := frame.ID(slot); id != 0 && frame.Tick-last > tick.Tick(r.rate)/4 {
			r.fail(Liveness, "client %d was last sent the row of %v in tick %d, and not until %d",
				i, id, last, frame.Tick)
		}
	}
}

// failRow reports a row that differs.
func (r *run) failRow(i int, got, frame *snapshot.Frame, slot int) {
	var row, want [netstate.PublicFields]int32
	id, wantID := got.Row(slot, row[:]), frame.Row(slot, want[:])
	r.fail(Snapshots, "client %d has %v %v in slot %d of tick %d, the server %v %v",
		i, id, row, slot, frame.Tick, wantID, want)
}

// checkShownPlayers checks that each player a client shows exists and is, or was a moment ago,
// visible to it.
func (r *run) checkShownPlayers(i int, c *client.Client) {
	now, e := r.Lobby.Match().Tick(), &r.visibility.clients[i]
	for slot := range r.cfg.Players {
		p, ok := c.Pose(slot)
		if !ok {
			continue
		}
		exists, visible := false, !r.visibility.on
		for t := now; t > 0 && t+100 > now; t-- {
			at := r.shots.pose(t, slot)
			exists = exists || at != nil && at.ID == p.ID
			visible = visible || e.at[t%visibilityTicks] == t && e.visible[t%visibilityTicks]>>slot&1 != 0
		}
		if !exists || !visible {
			r.fail(Snapshots, "client %d still shows %v, which left: exists %v, visible %v",
				i, netid.ID(p.ID), exists, visible)
		}
	}
}

// checkOwnState checks that a client's own-player state equals the server's at the tick it names.
func (r *run) checkOwnState(i int, c *client.Client) {
	m, s := r.Lobby.Match(), &r.honest[i]
	if now := m.Tick(); r.Lobby.Sent(c.ID()) == now {
		k := &s.ownStates[now%selfTicks]
		k.at, k.id, k.state = now, c.ID(), netstate.GatherSelf(m, c.ID())
	}
	got, at := c.Self()
	if at == s.ownTick {
		return
	}
	s.ownTick = at
	if k := &s.ownStates[at%selfTicks]; k.at != at || k.id != c.ID() {
		r.fail(Snapshots, "client %d has the own state %+v of tick %d, for which it was sent none",
			i, got, at)
	} else if k.state != got {
		r.fail(Snapshots, "client %d has the own state %+v of tick %d, the server %+v", i, got, at, k.state)
	}
}

// checkForwards checks that snapshots and views never go back, and that no view lies beyond the
// newest snapshot.
func (r *run) checkForwards(i int, c *client.Client) {
	s, v := &r.honest[i], c.View()
	if n := c.Newest(); n < s.newest {
		r.fail(Forwards, "client %d went back from snapshot %d to %d", i, s.newest, n)
	} else {
		s.newest = n
	}
	if v == (tick.View{}) {
		return
	}
	at := lagcomp.Instant(v)
	if at < s.view || !v.Valid() || v.To > c.Newest() {
		r.fail(Forwards, "client %d has view %v after %d/256, its newest snapshot is %d",
			i, v, s.view, c.Newest())
	}
	s.view = at
}

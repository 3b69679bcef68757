package swarm

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
)

// Sent counts what players decided and sent.
type Sent struct {
	Ticks     uint64 // command ticks of all players, spectators left out
	LateTicks uint64 // of them, so late that the server may have missed them: the swarm's fault
	// LateTicks by player; nil where there are none.
	LateOf     map[LobbySlot]uint64
	Passes     uint64 // passes: each lets one player decide and send; skipped ones included
	LatePasses uint64 // of them, over half a tick late, or skipped
	ByBackup   uint64 // of them, played by the backup
	Sends      uint64 // datagrams
	BytesUp    uint64
}

// LobbySlot names a player by its lobby and its slot there. A lobby has the number that tokens name.
type LobbySlot uint64

// NewLobbySlot names the player of a slot of a lobby.
func NewLobbySlot(lobby, slot int) LobbySlot { return LobbySlot(lobby)<<32 | LobbySlot(slot) }

// Add adds the counts of another sender or swarm.
func (a *Sent) Add(b Sent) {
	a.Ticks += b.Ticks
	a.LateTicks += b.LateTicks
	for player, n := range b.LateOf {
		a.addLate(player, n)
	}
	a.Passes += b.Passes
	a.LatePasses += b.LatePasses
	a.ByBackup += b.ByBackup
	a.Sends += b.Sends
	a.BytesUp += b.BytesUp
}

func (a *Sent) addLate(player LobbySlot, n uint64) {
	if a.LateOf == nil {
		a.LateOf = map[LobbySlot]uint64{}
	}
	a.LateOf[player] += n
}

// sender lets players decide and send: the driver has one, and its backup. One goroutine owns each.
// The driver gathers its counters.
type sender struct {
	s         *Swarm
	blindOnly bool // it has blind players only
	sent      Sent
	err       error // of the first datagram that could not be sent
	view      Observation
	slot      int64                // that is played
	n         int                  // passes since the lateness was recorded last
	batches   []*netio.ClientBatch // by server: datagrams since then, which were not sent yet
	sentUntil func() (now, corrected time.Duration)
}

// chunk is how many passes send together, between two readings of the clock: each is as late as the
// last of them.
const chunk = 16

// begin starts a slot.
func (h *sender) begin(slot int64) { h.slot, h.n = slot, 0 }

// step lets player i decide at the instant now about the ticks that are due, and send. late is how
// much later that is than it should be for the server to have the commands in time.
func (h *sender) step(i int, now, late time.Duration) {
	s, p := h.s, &h.s.players[i]
	now = max(now, p.at) // the other sender may have seen a later instant
	p.at = now
	for due := p.client.Advance(now); due > 0; due-- {
		p.client.Command(p.brain.Decide(h.observe(i)))
		if s.cfg.spectates(i) {
			continue
		}
		h.sent.Ticks++
		if late > p.slack(s.cfg.Rate.Period()) {
			h.sent.LateTicks++
			h.sent.addLate(s.lobbySlot(i), 1)
		}
	}
	h.send(i, now)
	s.passes.due[i].Store(int64(p.client.Due()))
	if h.n++; h.n == chunk {
		h.recordLate()
	}
}

// lobbySlot names player i, which has joined.
func (s *Swarm) lobbySlot(i int) LobbySlot {
	return NewLobbySlot((s.cfg.First+i)%s.cfg.Lobbies, s.players[i].client.ID().Index())
}

// send adds player i's datagrams to the batch of its server, or to its link.
func (h *sender) send(i int, now time.Duration) {
	h.grow()
	out := h.s.players[i].client.Outgoing(now)
	for k := range out.Len() {
		to, data := out.At(k)
		h.sent.Sends++
		h.sent.BytesUp += uint64(len(data))
		if k := h.s.links; k != nil {
			k.up.push(h.s.driver.now, i, data, k.tag(to))
			continue
		}
		h.transmit(i, to, data)
	}
}

// transmit adds a datagram of player i to the batch of a server.
func (h *sender) transmit(i int, to netip.AddrPort, data []byte) {
	pool, socket := h.s.sockets.of(i, to, h.s.players[i].client.MovesTo(to))
	if pool < 0 {
		h.s.sockets.want(to)
		return
	}
	if h.batches[pool].Full() {
		h.flush()
	}
	h.batches[pool].Add(socket, data)
}

// grow makes batches for servers that have none.
func (h *sender) grow() {
	for len(h.batches) < len(h.s.sockets.pools) {
		h.batches = append(h.batches, new(netio.ClientBatch))
	}
}

// flush sends the batches.
func (h *sender) flush() {
	for pool, batch := range h.batches {
		socket, err := h.s.sockets.pools[pool].SendBatch(batch)
		if err != nil && h.err == nil && !h.s.cfg.Choose { // a server of several may be gone
			h.err = fmt.Errorf("player %d: %w", h.s.sockets.player(pool, socket), err)
		}
	}
}

// observe is what player i decides by; a blind one observes nothing.
func (h *sender) observe(i int) *Observation {
	s := h.s
	h.view = Observation{Tick: 1, Rate: s.cfg.Rate}
	if !s.cfg.blind(i) {
		s.vision.observe(&h.view, i%len(s.vision.visible), s.players[i].client)
	}
	return &h.view
}

// recordLate sends the datagrams of the passes since its last call, and records how long after the
// start of the slot that was done.
func (h *sender) recordLate() {
	if h.n == 0 {
		return
	}
	h.flush()
	now, corrected := h.sentUntil()
	due := time.Duration(h.slot) * h.s.period()
	h.s.Figures.Played.RecordN(int64(now-due), int64(h.n))
	h.late(now-due, corrected-due, h.n)
	h.n = 0
}

// late counts passes that ended, or would have, that long after the start of their slot; corrected
// is the same corrected for steal.
func (h *sender) late(by, corrected time.Duration, passes int) {
	f := &h.s.Figures
	f.Late.RecordN(int64(by), int64(passes))
	f.StealCorrected.RecordN(int64(max(corrected, 0)), int64(passes))
	h.sent.Passes += uint64(passes)
	if by > h.s.cfg.Rate.Period()/2 {
		h.sent.LatePasses += uint64(passes)
	}
}

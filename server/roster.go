package server

import (
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
)

// roster has the names and teams of the players, and which of them each connection still has to be
// sent.
//
// Names travel as state, not as events. Each connection has a bit per row that it has not been sent
// in its current form, and a roster message takes as many of those rows as it has room for. A row
// that changes twice may be sent once, and a full queue loses nothing. A tick in which no row
// changes costs a look at one slot in Config.Rules.Rate.
type roster struct {
	*core
	rows     []protocol.RosterRow // by slot; NetID 0: none yet; no name: left
	added    []uint64             // by slot: revision at which the row's player got its name
	revision uint64               // counts the connections that got ready
	slots    map[string]int32     // slot of each name, in lower case
	viewers  []rosterViewer       // by slot
	dirty    dirtyRows            // that connections have not been sent
	players  []chat.Player        // by slot, as chat.Room takes them: connections that are ready
	message  [packet.MaxMessageSize]byte
}

// rosterViewer is the state of the roster for one connection that is ready.
type rosterViewer struct {
	ready    bool
	revision uint64        // the roster's when it got ready
	clear    time.Duration // when a limited link has carried the names and lines sent so far
}

func newRoster(c *core) roster {
	n := c.cfg.Players
	return roster{
		core: c, rows: make([]protocol.RosterRow, n), added: make([]uint64, n), slots: make(map[string]int32),
		viewers: make([]rosterViewer, n), dirty: newDirtyRows(n),
		players: make([]chat.Player, n),
	}
}

// disconnect forgets the connection of a slot. Its player keeps the name, for a reconnect.
func (r *roster) disconnect(slot int) {
	r.viewers[slot] = rosterViewer{}
	r.players[slot] = chat.Player{}
	r.dirty.clear(slot)
}

// add names the player of a connection that gets ready. Its row is new for all, and all rows are
// new for it.
func (r *roster) add(c *conn, wanted string) {
	slot := c.id.Index()
	name, key := r.unique(int32(slot), wanted)
	row := protocol.RosterRow{NetID: uint32(c.id), Name: name, Team: r.teamOf(c, r.rows[slot].Team)}
	r.revision++
	if row != r.rows[slot] {
		if row.NetID != r.rows[slot].NetID {
			r.added[slot] = r.revision
		}
		r.freeName(slot)
		r.rows[slot], r.slots[key] = row, int32(slot)
		r.markDirty(slot)
	}
	viewer := &r.viewers[slot]
	viewer.ready, viewer.revision = true, r.revision
	muted := r.players[slot].Muted // before a map change
	r.players[slot] = chat.Player{ID: row.NetID, Name: name, Team: row.Team, Muted: muted}
	for i := range r.rows {
		if r.rows[i].Name != "" {
			r.dirty.mark(slot, i)
		}
	}
}

// remove frees the name of a player that leaves the match.
func (r *roster) remove(c *conn) {
	slot := c.id.Index()
	if row := &r.rows[slot]; row.NetID == uint32(c.id) && row.Name != "" {
		r.freeName(slot)
		row.Name = ""
		r.markDirty(slot)
	}
}

// freeName makes the name in a row free for other players.
func (r *roster) freeName(slot int) {
	if name := r.rows[slot].Name; name != "" {
		delete(r.slots, chat.NameKey(name))
	}
}

// markDirty has a row sent again to every connection that is ready.
func (r *roster) markDirty(slot int) {
	for _, other := range r.live {
		if r.viewers[other].ready {
			r.dirty.mark(int(other), slot)
		}
	}
}

// newMatch gives the rows the ids of a new match and empties those of players that are gone. It
// sends nothing: each connection gets all rows with its Ready.
func (r *roster) newMatch() {
	for slot := range r.rows {
		row, muted := &r.rows[slot], r.players[slot].Muted
		r.disconnect(slot)
		if row.Name == "" || r.conns[slot].id == 0 || r.match.CommandBuffer(r.conns[slot].id) == nil {
			if row.Name != "" {
				r.freeName(slot)
			}
			*row = protocol.RosterRow{}
			continue
		}
		row.NetID = uint32(r.conns[slot].id)
		r.players[slot].Muted = muted
	}
}

// teamOf is the team of a connection's player in the match; otherwise, where it has none yet.
func (r *roster) teamOf(c *conn, otherwise int8) int8 {
	if v := r.match.Vital(c.id); v != nil {
		return int8(v.Team)
	}
	return otherwise
}

// updateTeam takes the team of a slot's player from the match.
func (r *roster) updateTeam(slot int) {
	if team := r.teamOf(&r.conns[slot], r.rows[slot].Team); r.rows[slot].Team != team {
		r.rows[slot].Team, r.players[slot].Team = team, team
		r.markDirty(slot)
	}
}

// Roster messages leave most of a connection's queue to events of the match, and most of a limited
// link to snapshots.
const (
	rosterQueue = 16 // queued messages at which names wait
	chatQueue   = 40 // queued messages at which lines of chat are lost
	linkShare   = 4  // names and lines get this part of a limited rate: one in linkShare
)

// sendNames queues one roster message of rows that a connection has not been sent, if there are any
// and its link has room. Call it before a snapshot: the message travels in it.
func (r *roster) sendNames(now time.Duration, c *conn, interval time.Duration) {
	slot := c.id.Index()
	viewer := &r.viewers[slot]
	if r.dirty.count[slot] == 0 || c.session.peer.ReliablePending() >= rosterQueue || now < viewer.clear {
		return
	}
	most := r.messageRoom(c, interval, protocol.MaxRosterRow)
	message := append(r.message[:0], protocol.MessageRoster)
	for at := r.dirty.next(slot, 0); at >= 0 && len(message)+r.rows[at].Size() <= most; {
		message = r.appendRow(message, at, slot)
		at = r.dirty.next(slot, at+1)
	}
	r.queue(now, c, message)
}

// messageRoom is the most bytes of a message of rows: a limited link has less room, but for one row.
func (r *roster) messageRoom(c *conn, interval time.Duration, row int) int {
	rate := c.repl.pacing.bucket.Rate()
	if rate == 0 {
		return packet.MaxMessageSize
	}
	share := int(int64(rate) * int64(interval) / int64(time.Second) / linkShare)
	return max(1+row, min(share, packet.MaxMessageSize))
}

// appendRow appends the row of a slot as the connection in another one gets it, and counts it as
// sent.
func (r *roster) appendRow(message []byte, slot, to int) []byte {
	row := r.rows[slot]
	row.New = row.Name != "" && r.added[slot] > r.viewers[to].revision
	r.dirty.sent(to, slot)
	return row.Append(message)
}

// queue queues a roster message, for which the caller has seen that there is room.
func (r *roster) queue(now time.Duration, c *conn, message []byte) {
	if c.session.peer.QueueReliable(message) != nil {
		panic("server: no room for names in a queue that had some")
	}
	r.Stats.Count[metrics.RosterMessages].Inc()
	r.viewers[c.id.Index()].charge(now, c, len(message))
}

// charge adds bytes of names and lines to what a limited link has to carry.
func (v *rosterViewer) charge(now time.Duration, c *conn, bytes int) {
	if rate := c.repl.pacing.bucket.Rate(); rate != 0 {
		v.clear = max(now, v.clear) + time.Duration(bytes*linkShare)*time.Second/time.Duration(rate)
	}
}

// sendName queues the name of one player with a connection that has not been sent it: ahead of what
// that player says.
func (r *roster) sendName(now time.Duration, c *conn, id netid.ID) {
	slot, to := id.Index(), c.id.Index()
	if id != 0 && r.dirty.has(to, slot) {
		r.queue(now, c, r.appendRow(append(r.message[:0], protocol.MessageRoster), slot, to))
	}
}

// sendPair queues the names of two players ahead of an event about both, unless the connection's
// queue is full of other messages.
func (r *roster) sendPair(now time.Duration, c *conn, a, b netid.ID) {
	if r.dirty.count[c.id.Index()] > 0 && c.session.peer.ReliablePending() < chatQueue {
		r.sendName(now, c, a)
		r.sendName(now, c, b)
	}
}

// unique cleans a name and makes it one that looks like no other slot's, nor like one that only the
// server speaks as, by a number after it. An empty name becomes that of the slot. key is its NameKey.
func (r *roster) unique(slot int32, wanted string) (name, key string) {
	name = chat.CleanName(wanted)
	if name == "" {
		name = slotName(slot)
	}
	for try, clean := 1, name; ; try++ {
		key = chat.NameKey(name)
		if at, taken := r.slots[key]; !chat.ReservedKey(key) && (!taken || at == slot) {
			return name, key
		}
		// After a few short numbers come numbers that no other slot tries: only a name chosen on
		// purpose is in the way then.
		n := try + 1
		if try > shortNumbers {
			n = int(slot) + (try-shortNumbers)*len(r.viewers)
		}
		name = numbered(clean, n)
	}
}

// shortNumbers is how many short numbers unique tries.
const shortNumbers = 3

// numbered is a name with a number after it, cut so that both fit.
func numbered(name string, n int) string {
	number := " " + strconv.Itoa(n)
	if runes := []rune(name); len(runes)+len(number) > chat.MaxName {
		name = strings.TrimRight(string(runes[:chat.MaxName-len(number)]), " ")
	}
	return name + number
}

// slotName is the name of a player that has chosen none.
func slotName(slot int32) string { return "player " + strconv.Itoa(int(slot)) }

// name is the name of the player in a slot. A player that is not ready has that of its slot.
func (r *roster) name(slot int32) string {
	if row := &r.rows[slot]; row.NetID == uint32(r.conns[slot].id) && row.Name != "" {
		return row.Name
	}
	return slotName(slot)
}

// slotByName returns the slot of the player with a name, in upper or lower case. ok is false where
// there is none.
func (r *roster) slotByName(name string) (slot int32, ok bool) {
	slot, ok = r.slots[chat.NameKey(name)]
	return slot, ok
}

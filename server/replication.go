package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// replication turns each tick of a match into the snapshots of all clients. A played match and the
// acks of a client go in; the sections of its packets come out. It sees neither the lobby, nor
// sockets, nor sessions. A tick calls it in this order:
//
//	capture                     the match -> frames of players and objects
//	begin                       the frames -> encoders
//	for each client that is due (see snapshotDue):
//	    beginSnapshot
//	    appendSnapshot          one packet; again while more reports true
//	    endSnapshot
type replication struct {
	cfg        *Config
	match      *sim.Match
	stats      *metrics.Stats
	loadLevel  overload.Level // lowers detail and send rate; its last levels reject newcomers
	batchTicks int            // ticks since the last snapshots, 1 or more
	players    playerRows
	objects    *objectRows
	owner      ownerRows
	effects    effects
	// groupBytes is how much a packet may end short of full, as groups are not split.
	groupBytes int
}

// replicatedRows are the rows of one kind, players or objects: their recent frames, their encoders,
// and what decides which clients get them.
type replicatedRows struct {
	frames   *snapshot.Ring
	unsent   *snapshot.Ring // a frame of a tick that is not sent, for Lobby.Frame; nil: none was asked for
	encoder  *snapshot.Encoder
	packer   snapshot.Packer
	sums     snapshot.Checksums
	interest interestSet
	meanCost int // bits of a weighed row, meanCostShare times the mean over snapshots
}

// unsentFrame is a ring of one frame, for a tick that is not sent.
func (k *replicatedRows) unsentFrame(s schema.Schema, slots int) *snapshot.Ring {
	if k.unsent == nil {
		k.unsent = snapshot.NewRing(s, slots, 1, 1)
	}
	return k.unsent
}

// ownerRows encodes the row that only a client's own player has.
type ownerRows struct {
	counts *schema.Counts // symbols for training; nil: not counted
	row    [netstate.OwnerFields]int32
}

// viewer is the viewpoint that selects a client's rows.
type viewer struct {
	player    netid.ID
	spectates bool
	slot      int32 // row of the viewpoint: the client's own or its target's; -1: free camera
}

func newReplication(cfg *Config, stats *metrics.Stats) replication {
	r := replication{cfg: cfg, stats: stats, batchTicks: 1}
	r.groupBytes = snapshot.MaxGroupBytes(cfg.Models.Public)
	r.players.encoder = snapshot.NewEncoder(cfg.Models.Public, cfg.Players)
	r.players.encoder.Reserve(cfg.Players, cfg.Players)
	r.players.encoder.ReservePredictions() // else the first snapshot with two baselines allocates
	return r
}

// seesAll reports whether the client may be sent all players.
func (r *replication) seesAll(c *connReplication) bool {
	return r.cfg.Relevance != RelevanceGrid || c.viewer.spectates && r.cfg.SpectateAll
}

// setMatch replaces the match, its frames and the interest sets. The encoders of players stay.
func (r *replication) setMatch(s *mapState) {
	encoder, packer, sums := r.players.encoder, r.players.packer, r.players.sums
	r.match, r.players, r.objects, r.effects = s.match, s.players, s.objects, s.effects
	r.players.encoder, r.players.packer, r.players.sums = encoder, packer, sums
}

// capture writes the frames of the tick that was just played, unless no snapshot of it can be due:
// in a small lobby, before the last tick of a batch. Launches are noted in every tick all the same,
// as they are part of rows.
func (r *replication) capture(ticks, connections int) {
	r.stats.Count[metrics.SpawnsRefused].Add(uint64(r.match.Outcome().Refused))
	r.effects.note(r.match)
	due := connections > 0 && r.batchTicks == ticks && r.sends() || ticks > 1 && !r.cfg.sendsTogether()
	if due {
		r.capturePlayers(r.players.frames)
	}
	switch {
	case due:
		r.captureObjects()
	case r.objects.flying(r.match):
		r.stats.Count[metrics.ProjectilesNoSlot].Add(r.objects.noteLaunches(r.match))
	}
}

// captureObjects writes the frame of objects.
func (r *replication) captureObjects() {
	r.objects.capture(r.match)
	r.stats.Count[metrics.ProjectilesNoSlot].Add(r.objects.table.dropped)
}

// capturePlayers writes a frame of players, from the poses recorded for lag compensation.
func (r *replication) capturePlayers(into *snapshot.Ring) {
	frame := into.Begin(r.match.Tick())
	var row [netstate.PublicFields]int32
	acts, poses := r.match.AbilityStates(), r.match.Poses()
	for slot := range poses {
		pose := &poses[slot]
		vital := r.match.Vital(netid.ID(pose.ID))
		if vital == nil { // empty, or left in this tick
			continue
		}
		netstate.PublicRow(row[:], pose, vital, &acts[slot])
		frame.Set(slot, netid.ID(pose.ID), row[:])
	}
}

// begin gives the newest frames to the encoders, if there are some of this tick.
func (r *replication) begin() {
	frame := r.frame()
	if frame == nil {
		return
	}
	r.players.encoder.Begin(frame, r.players.frames)
	r.players.sums.Begin(frame)
	r.objects.begin()
}

// frame is the frame of players of the newest tick; nil if no snapshot of it can be due.
func (r *replication) frame() *snapshot.Frame { return r.players.frames.At(r.match.Tick()) }

// beginSnapshot starts a client's snapshot of the newest tick.
func (r *replication) beginSnapshot(c *connReplication) {
	t := r.match.Tick()
	r.recordSend(c, t)
	c.acks.tracker.Advance(t)
	c.acks.packets.Begin(t)
	c.checksum.next(r.cfg.ChecksumEvery)
}

// more reports whether the client's snapshot needs another packet.
func (r *replication) more() bool { return !r.players.packer.Done() || r.objects.more() }

// snapshotPacket is one packet of a snapshot. Inputs: seq, ends.First. Outputs: the other ends, and
// tag.
type snapshotPacket struct {
	seq  uint16
	ends metrics.SectionEnds
	tag  ackTag // what an ack of this packet confirms
}

// appendSnapshot appends the snapshot section of a packet to dst, which holds the packet so far.
// Each section decodes without the other packets of the same snapshot; it still needs acked
// baselines. The first packet of a snapshot has the owner row and the effects, and selects the rows
// of all packets, within the bytes that the sections before leave.
func (r *replication) appendSnapshot(
	now time.Duration, dst []byte, c *connReplication, out *snapshotPacket,
) []byte {
	ends, t := &out.ends, r.match.Tick()
	ends.Reliable = uint16(len(dst))
	dst = append(dst, byte(packet.SectionSnapshot))
	at, head := len(dst), netstate.Header{Tick: t, Owner: ends.First, Checked: c.checksum.on}
	dst = head.Append(dst) // reserves its bytes; overwritten below, once Objects and Sum are known
	ends.Head = uint16(len(dst))
	if ends.First {
		dst = r.appendOwner(dst, c)
		r.chooseEffects(now, c)
		r.beginObjects(c, r.objectBudget(now, c, len(dst)))
	}
	ends.Owner = uint16(len(dst))
	dst, objects := r.appendObjects(dst, c, &head, ends)
	if ends.First {
		r.selectRows(now, c, len(dst)+r.effects.reserved)
		dst, head.Effects = r.appendEffects(dst, c)
	}
	ends.Effects = uint16(len(dst))
	dst, first, count, _ := r.players.packer.Next(dst, packet.MaxPacketSize-len(dst))
	ends.Rows = uint16(len(dst))
	if c.checksum.on {
		head.Sum = r.players.packer.Sum(&r.players.sums, first, count)
	}
	head.Append(dst[:at])
	var everyRow *snapshot.Frame // the frame if the packet has every row of its groups
	if !c.view.byRow {           // the tracker records single rows in acks.packets itself
		everyRow = r.frame()
	}
	c.acks.packets.Sent(out.seq, first, count, everyRow)
	content := packetContent{tick: t, owner: ends.First, players: groupRange{first, count}, objects: objects}
	out.tag = content.ackTag()
	return dst
}

// appendOwner writes the row of the client's own player.
func (r *replication) appendOwner(dst []byte, c *connReplication) []byte {
	var self netstate.Self
	self.Gather(r.match, c.viewer.player)
	netstate.OwnerRow(r.owner.row[:], &self)
	return c.acks.owner.Append(dst, r.match.Tick(), r.owner.row[:])
}

// endSnapshot resets the priority of the rows that were sent.
func (r *replication) endSnapshot(c *connReplication) {
	r.markPlayersSent(c)
	r.objects.markSent(c)
}

// Snapshots without baselines cost bytes. Two baseline drops of one client are at least resyncEvery
// apart. Each drop that follows soon after another doubles the wait, up to maxResyncBackoff times.
const (
	resyncEvery      = 250 * time.Millisecond
	maxResyncBackoff = 4
)

// resync drops the client's baselines if it asked for that, and reports whether it did.
func (r *replication) resync(c *connReplication) (dropped bool) {
	a, t := &c.acks, r.match.Tick()
	wait := r.ticks(resyncEvery) << a.resyncBackoff
	if !a.resyncRequested || t < a.resyncedAt+wait {
		return false
	}
	if t >= a.resyncedAt+8*wait {
		a.resyncBackoff = 0
	} else {
		a.resyncBackoff = min(a.resyncBackoff+1, maxResyncBackoff)
	}
	a.resyncRequested, a.resyncedAt = false, t
	c.dropBaselines()
	r.stats.Count[metrics.Resyncs].Inc()
	return true
}

// ticks is how many ticks a duration lasts.
func (r *replication) ticks(d time.Duration) tick.Tick {
	return tick.Tick(int64(d) * int64(r.cfg.Rules.Rate) / int64(time.Second))
}

// lastSeen is the newest snapshot that showed a row to the client and is known to have arrived, of
// the last snapshot.Window; 0 for none.
func (r *replication) lastSeen(c *connReplication, row netid.ID) tick.Tick {
	if c.acks.tracker == nil {
		return 0
	}
	return c.acks.tracker.NewestAcked(r.players.frames, row)
}

// countSymbols adds all symbols that are coded from now on to n, for netstate.Train.
func (r *replication) countSymbols(n *netstate.Counts) {
	r.players.encoder.Count(n.Public)
	r.objects.encoder.Count(n.Objects)
	r.owner.counts = n.Owner
}

// sampleBlocks keeps samples of all blocks that are coded from now on in s, for
// netstate.TrainDictionaries.
func (r *replication) sampleBlocks(s *netstate.Samples) {
	r.players.encoder.Sample(s.Public)
	r.objects.encoder.Sample(s.Objects)
}

// acked takes the ack of a packet. tag is the packet's ackTag; since is the tick of the earliest
// command that the client can have issued after receiving the packet.
func (r *replication) acked(c *connReplication, tag ackTag, since tick.Tick) {
	t, players := tag.tick(), tag.players()
	if players.count > 0 {
		c.acks.tracker.Acked(t, players.first, players.count)
	}
	c.acks.packets.Acked(t, players.first, players.count, since, r.match.Tick()+1)
	if objects := tag.objects(); objects.count > 0 {
		c.acks.objects.acked(r.objects, t, objects)
	}
	if tag.owner() {
		c.acks.owner.Acked(t)
		r.effects.acked(c, t)
	}
	c.acks.newest, c.acks.sinceResync = max(c.acks.newest, t), max(c.acks.sinceResync, t)
	c.acks.unacked = 0
}

// encodersOf returns the encoders of a client's rows, for the sizes of snapshots.
func (r *replication) encodersOf(c *connReplication) metrics.Encoders {
	return metrics.Encoders{
		Owner: c.acks.owner, Objects: r.objects.encoder, Public: r.players.encoder,
		Effects: &r.effects.format, Interval: tick.Tick(r.cfg.SendInterval),
	}
}

// reserve allocates ahead what otherwise the first snapshots do. Under RelevanceOff that is only
// what the bandwidth meter reads into: all rows go to all clients in shared blocks.
func (r *replication) reserve() {
	r.players.encoder.ReserveExplain(netstate.Public)
	r.objects.encoder.ReserveExplain(netstate.Objects)
	if r.cfg.Relevance == RelevanceOff {
		return
	}
	r.players.encoder.ReserveRows()
	r.players.packer.Reserve(r.cfg.Players)
	r.players.interest.reserve(r.cfg.Players)
	r.objects.interest.reserve(r.cfg.Players)
}

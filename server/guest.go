package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// guest is one player and its connection: who it is, and what it is known to hold. What each package and each tick needs comes first:
// of hundreds that are looked at in turn, each line of memory is far away.
type guest struct {
	id      netid.ID
	client  int32          // of the gate
	first   uint32         // 1<<16 and the first package with a snapshot of its world; 0: none so far
	world   uint8          // how often the map has changed in its session
	every   uint8          // the pace it asked for, in intervals
	ready   bool           // it has what the Welcome named
	settled bool           // no package from before that can still come
	watches bool           // it looks on
	mute    bool           // it was silent, and has not acknowledged enough since
	late    bool           // its bucket was empty when its last snapshot was due
	asked   bool           // it cannot decode what it gets and wants to begin anew
	addr    netip.AddrPort // where it is now
	peer    *packet.Peer
	tracker *snapshot.Tracker     // which public rows it holds
	shown   *snapshot.Held        // and held when it made its commands
	owner   *snapshot.OwnerWriter // its own rows, and which of them it holds
	things  hold                  // which rows of things
	heard   tick.Tick             // newest command that it sent
	sent    tick.Tick             // newest tick it was sent a snapshot of
	blocks  tick.Tick             // newest tick of which it was told all in blocks, and nothing by rows since; 0: none
	acked   tick.Tick             // newest tick of which it acknowledged anything
	holds   tick.Tick             // likewise since it last began without baselines
	paced   tick.Tick             // ticks from one of its snapshots to the next
	spoke   tick.Tick             // when it was last sent anything
	from    tick.Tick             // the last tick of the world before
	missed  uint32                // how often it says that it has mispredicted
	blind   int                   // snapshots sent since it last acknowledged one
	proofs  int                   // packages it acknowledged since it was last silent
	gap     gap                   // between its snapshots, as it acknowledges them
	traffic traffic               // of this session
	inputs  sim.InboxCount        // of its inbox, as far as it is in the lobby's counts
	bucket  ratelimit.Bucket      // what it may be sent
	know    lagcomp.Knowledge     // of brief
	pledges lagcomp.Pledges       // how far behind its commands it looks
	came    [64]snapshot.Command  // its newest commands, and when they came

	byRow    bool      // the snapshot at hand says rows one by one
	checked  bool      // the snapshot at hand has a checksum
	sketched uint8     // whose turn it is in its next snapshot on ShedDetail
	entry    entry     // how far it is with coming in
	chose    chosen    // how the rows of its newest snapshot were chosen
	held     Held      // why none came since that was due
	eyed     int32     // through whose eyes it saw in that, as eye says it
	check    int       // snapshots until the next that has a checksum
	wasIn    tick.Tick // when it was in, if it came in by settling
	whole    tick.Tick // of its first snapshot that left out nothing, if it is settling
	resynced tick.Tick // when it last began anew
	turned   tick.Tick // when its fights take turns
	wish     int       // kilobits a second that it asked for; 0: as many as there are

	eyes    *interest.Client // what it sees and waits for; nil until it is asked for
	fights  []uint64         // two sets, see foes
	thin    thin             // what its line has no room for
	watch   viewpoint        // through whose eyes
	cam     killcamViewer    // what it is to be shown of its deaths
	resyncs uint64           // how often it began anew in this session

	user     uint64        // its client id, which tokens name
	tag      netcode.Tag   // of the token that its session began with
	since    time.Duration // when that was
	away     time.Duration // when it timed out, if it is absent
	loads    time.Duration // since when it loads what is played
	supplied time.Duration // when something was last due to it of what it fetches
	fetched  uint8         // bit n: it has asked for protocol.Content n
	unlike   packet.Reason // its Ready did not match ours in this
}

// open begins a session for the player of a guest, in the memory of the one before.
func (g *guest) open(now time.Duration, l *Lobby) {
	g.furnish(&l.cfg)
	peer, tracker, shown, owner, eyes, things := g.peer, g.tracker, g.shown, g.owner, g.eyes, g.things
	if eyes != nil {
		eyes.Reset()
		clear(g.fights)
	}
	peer.Reset(now, packet.Config{})
	*g = guest{id: g.id, user: g.user, since: now, loads: now, watches: g.watches, peer: peer, tracker: tracker, shown: shown, owner: owner, inputs: g.inputs,
		every: 1, paced: tick.Tick(l.cfg.Interval), bucket: newBucket(l.cfg.Kbps),
		eyes: eyes, things: things, fights: g.fights, thin: g.thin, check: l.cfg.ChecksumEvery}
	g.thin.reset()
	g.owner.Count(l.ownerCounts)
	g.tracker.Reset()
	g.things.reset()
	g.shown.Reset()
	g.owner.Reset()
}

// forget takes the guest to hold no baselines: snapshots begin anew. What it was shown it may show still.
func (g *guest) forget() {
	g.holds = 0
	g.entry = entering
	g.tracker.Forget()
	g.things.forget()
	g.owner.Reset()
}

// delivered notes that a package with a snapshot has arrived.
func (g *guest) delivered(now time.Duration, l *Lobby, r receipt) {
	if g.world != 0 && r.tick() <= g.from { // of a world that is over
		return
	}
	if s := r.players(); s.count > 0 {
		g.tracker.Acked(r.tick(), s.first, s.count)
	}
	g.shown.Arrived(r.tick(), r.players().first, r.players().count, g.heard+1, l.match.Tick()+1)
	if s := r.things(); s.count > 0 {
		g.things.acked(l.things, r.tick(), s)
	}
	if r.owner() {
		g.owner.Acked(r.tick())
	}
	g.gap.add(now, l.cfg.Rules.Rate, g.acked, r.tick(), g.peer.RTT().Min)
	g.acked, g.holds = max(g.acked, r.tick()), max(g.holds, r.tick())
	g.blind = 0
}

// resync begins anew without baselines if the guest has asked for it, at most once in resyncEvery: it costs bytes.
func (g *guest) resync(l *Lobby, t tick.Tick) {
	if !g.asked || t < g.resynced+tick.Tick(int64(resyncEvery)*int64(l.cfg.Rules.Rate)/int64(time.Second)) {
		return
	}
	g.asked, g.resynced = false, t
	g.resyncs++
	g.forget()
	l.Stats.Count[Resyncs].Inc()
}

// resyncEvery is the least time between two fresh starts of one guest.
const resyncEvery = 250 * time.Millisecond

// brief tells the match what the server itself has measured of this connection, for the shots of the coming tick.
//
// Who has acknowledged no snapshot has seen nobody, and hits nobody. oldest is the match's History.Oldest.
func (g *guest) brief(now time.Duration, l *Lobby, oldest tick.Tick) {
	if g.suspect(now) {
		l.Stats.Count[LagSwitch].Inc()
	}
	rate := l.cfg.Rules.Rate
	ticks := func(d time.Duration) float32 { return float32(d) * float32(rate) / float32(time.Second) }
	rtt := g.peer.RTT()
	k := &g.know // field by field: a literal would be built aside and copied
	*k = lagcomp.Knowledge{}
	k.Rate = rate
	k.RTTTicks = ticks(rtt.Min)
	k.InterpTicks = max(float32(2*g.paced), min(ticks(g.gap.age), float32(2*g.paced)+ticks(mostGap)))
	k.SlackTicks = bufferTicks + ticks(4*rtt.Var)
	k.CapTicks = tick.Tick(int64(l.cfg.Rules.RewindMillis) * int64(rate) / 1000)
	k.NewestAcked, k.Newest, k.Oldest = g.acked, g.sent, oldest
	g.look(l, k)
	if g.mute {
		k.RTTTicks, k.InterpTicks, k.SlackTicks, k.CapTicks = 0, 0, 0, 1
	}
	if g.acked == 0 {
		k.Newest = 0
	}
	k.CapTicks = max(k.CapTicks, 1)
	l.match.Know(g.id, *k)
}

// An honest client sends at least every 50 ms. One that is silent for longer than muteAfter may be somebody who holds the line
// shut to shoot at where others were: it does not look back until it has acknowledged enoughProofs packages.
const (
	muteAfter    = 250 * time.Millisecond
	enoughProofs = 10
)

// suspect reports whether the guest has just fallen silent.
func (g *guest) suspect(now time.Duration) bool {
	was := g.mute
	switch {
	case g.ready && g.peer.Silent(now) > muteAfter:
		g.mute, g.proofs = true, 0
	case g.proofs >= enoughProofs:
		g.mute = false
	}
	return g.mute && !was
}

// bufferTicks is what an honest client's commands may wait in its inbox, and a tick for each end's quantised clock.
const bufferTicks = 6

package swarm

import (
	"context"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
)

const (
	// slots is the most parts of a tick that the players are spread over, so that they do not send
	// all at once. The last player of a slot is late by the time that sending takes.
	slots = 32
	// shortSlot is the shortest part: each costs a wake-up.
	shortSlot = 400 * time.Microsecond

	// pollsPerTick is how often in a tick a player with a prediction checks whether a command is
	// due, like a game with more frames than ticks.
	pollsPerTick = 2
	maxShares    = slots / pollsPerTick // of the players that have their passes together

	// pollBatch is how many sockets are emptied between two readings of the clock: some ten
	// microseconds of work, or a hundred after a stall of the server.
	pollBatch = 4

	// sampleEvery is how many ticks lie between two samples of a player. Counters are exact all the
	// same.
	sampleEvery = 4
)

// Run plays for the time d, until ctx ends, or until stop, which may be nil and is called once a
// tick, returns true.
//
// Sending follows the schedule: the players of a slot decide and send as soon as it starts;
// received datagrams are processed in the rest of the slot. A burst, as when the server sends all
// snapshots in one tick, waits in the sockets and makes nobody late. Where the machine stalls the
// driver, the backup sends for it.
func (s *Swarm) Run(ctx context.Context, d time.Duration, stop func() bool) error {
	drv, period := &s.driver, s.period()
	start, cpu := drv.pacer.Now(), drv.totalCPU()
	stolen, _ := clock.Stolen(drv.cpus)
	drv.slot = int64(start/period) + 1
	s.passes.queue.begin(drv.slot-1, 0)
	s.readRunDelay()
	drv.corrected, s.Figures.RunDelay.Known = clock.StealCorrected{}, drv.delay.Known()
	s.backup = s.startBackup()
	defer func() {
		s.Figures.Elapsed += drv.pacer.Now() - start
		s.Figures.CPU += drv.totalCPU() - cpu
		if now, ok := clock.Stolen(drv.cpus); ok {
			s.Figures.RunDelay.Stolen += now - stolen
			s.Figures.RunDelay.StolenKnown = true
		}
	}()
	for ; ; drv.slot++ {
		due := time.Duration(drv.slot) * period
		drv.setBeat(due)
		if due > start+d || ctx.Err() != nil {
			break
		}
		begun, slept := s.wait(due)
		s.beginSlot(due, begun, slept)
		s.playSlot()
		s.deliver()
		end := drv.pacer.Now()
		s.worked(end)
		sent := end - begun - drv.lost
		if s.tickDue = s.tickDue || drv.slot%s.slots() == 0; s.tickDue && s.tick(stop) {
			break
		}
		s.receiveUntil(due+period-period/8, sent)
		s.deliver()
		s.worked(drv.pacer.Now())
		s.skipSlots(due, begun)
	}
	s.backup.stop()
	s.gather(&s.sender)
	return s.Err()
}

// tick does what is done once a tick and without the backup, and reports whether to stop. While the
// backup plays, perhaps on a stalled processor, it is left to the next slot.
func (s *Swarm) tick(stop func() bool) bool {
	if !s.passes.latch.tryClose() {
		return false
	}
	defer s.passes.latch.open.Store(true)
	s.tickDue = false
	s.gather(&s.sender)
	if s.backup != nil {
		s.gather(&s.backup.sender)
	}
	s.lookAround()
	if err := s.sockets.reachWanted(len(s.players)); err != nil && s.err == nil {
		s.err = err
	}
	return stop != nil && stop()
}

// gather adds a sender's counters to the figures. An error before any player has joined means that
// the server is not up yet.
func (s *Swarm) gather(h *sender) {
	s.Figures.Sent.Add(h.sent)
	h.sent = Sent{}
	if h.err != nil && s.err == nil && s.Joined() > 0 {
		s.err = h.err
	}
	h.err = nil
}

// playSlot lets the players of the slot decide and send, unless the backup has.
func (s *Swarm) playSlot() {
	slot := s.driver.slot
	s.chatAndChurn(int(slot % s.slots()))
	s.passes.queue.begin(slot, s.passesPerSlot())
	if s.cfg.Decode != client.DecodeAcks {
		s.playShare()
	} else if s.passes.queue.slot() == slot {
		s.sender.sweep(slot, s.driver.now, s.sample)
	}
}

// playShare plays a slot of players that check twice a tick whether a command is due. A player with
// nothing to do is skipped without touching it: the memory of thousands of clients is a cache miss.
func (s *Swarm) playShare() {
	shares := s.slots() / pollsPerTick
	period, share, now := s.cfg.Rate.Period(), int(s.driver.slot%shares), s.driver.now
	late := now - s.played[share] - period/pollsPerTick // since the last pass
	s.played[share] = now
	s.sender.begin(s.driver.slot)
	early := int64(now + period/16) // a clock may run faster by a twentieth than expected
	s.ready = s.ready[:0]
	for i := share; i < len(s.players); i += int(shares) {
		if early >= s.passes.due[i].Load() {
			s.ready = append(s.ready, i)
		}
	}
	for k, i := range s.ready {
		s.prefetch(k)
		s.hear(i)
		s.sender.step(i, now, late)
		s.sample(i)
	}
	s.sender.recordLate()
}

// prefetch asks for the memory of the players whose passes follow the pass of number k. Each of its
// steps reads what the step before has asked for.
func (s *Swarm) prefetch(k int) {
	if k+3 < len(s.ready) {
		s.players[s.ready[k+3]].client.PrefetchConn()
	}
	if k+2 < len(s.ready) {
		s.players[s.ready[k+2]].client.Prefetch()
	}
	if k+1 < len(s.ready) {
		s.players[s.ready[k+1]].client.PrefetchRings()
	}
}

// receiveUntil receives until the instant end, after a slot that took the time sent to send. Once a
// tick's worth of sending has left no time to receive everything, receiving gets as much time as
// sending: an overloaded swarm must show up as late and not lose its sessions. Doing that at once
// would delay the slots that catch up after a stall.
func (s *Swarm) receiveUntil(end, sent time.Duration) {
	d, sent := &s.driver, max(sent, 0)
	if d.debt += sent; d.debt > s.cfg.Rate.Period() {
		end = max(end, d.pacer.Now()+max(sent, s.period()/4))
	}
	if s.poll(end) {
		d.debt = 0
	}
}

// poll receives until the sockets are empty or the instant end, some of one lobby and then of the
// next: draining one first would let the sessions of the others time out. It reports whether all
// are empty.
func (s *Swarm) poll(end time.Duration) bool {
	for silent := 0; silent < len(s.sockets.pools); silent++ {
		if s.driver.now = s.driver.pacer.Now(); s.driver.now >= end {
			return false
		}
		s.driver.setBeat(s.driver.now)
		if s.sockets.poll() {
			silent = -1
		}
	}
	return true
}

// receive hands a datagram to its player, or to the player's link.
func (s *Swarm) receive(i int, from netip.AddrPort, data []byte) {
	if k := s.links; k != nil {
		if len(data) <= impair.MaxDatagram { // a server sends none that are longer
			k.down.push(s.driver.now, i, data, k.tag(from))
		}
		return
	}
	s.hand(i, from, data)
}

// hand takes a datagram of player i, which hears of it in its next pass. Where a backup may be at the
// player, it hears of it at once.
func (s *Swarm) hand(i int, from netip.AddrPort, data []byte) {
	s.Figures.DatagramsDown++
	s.Figures.BytesDown += uint64(len(data))
	switch {
	case s.cfg.Decode == client.DecodeAcks:
		s.passes.lock(i)
		s.toClient(i, s.driver.now, from, data)
		s.passes.unlock(i)
	case !s.inbox.put(i, s.driver.now, from, data): // it is full
		s.hear(i)
		s.toClient(i, s.driver.now, from, data)
	}
}

// hear gives a client what waits in the inbox of player i.
func (s *Swarm) hear(i int) {
	s.inbox.take(i, func(at time.Duration, from netip.AddrPort, data []byte) { s.toClient(i, at, from, data) })
}

// toClient hands a datagram that arrived at an instant to the client of player i, which counts invalid
// ones.
func (s *Swarm) toClient(i int, at time.Duration, from netip.AddrPort, data []byte) {
	if i < s.Figures.Sampled {
		s.Figures.SampledDatagrams++
		s.Figures.SampledBytes += uint64(len(data))
	}
	p := &s.players[i]
	p.at = max(at, p.at)
	_ = p.client.ReceiveFrom(p.at, from, data)
}

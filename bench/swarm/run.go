package swarm

import (
	"context"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

const (
	// slots is how many parts of a tick the players are spread over, so that they do not all send at once: half a millisecond at 60 Hz, as who is last in a slot is
	// as late as the sending of it takes.
	slots = 32

	// pollsPerTick is how often in a tick each is asked whether it is time for a command, as a game does whose frames are more than its ticks.
	pollsPerTick = 2
	shares       = slots / pollsPerTick // of the players, who are looked at together

	// pollBatch is how many sockets are emptied between two looks at the clock: some ten microseconds of work, or a hundred after a stall of the server.
	pollBatch = 4

	// sampleEvery is how many ticks lie between two samples of a player. The counters among them are exact all the same.
	sampleEvery = 4
)

// Run plays for the time d, or until ctx ends or until tells it to stop; until may be nil and is asked every tick.
//
// Sending goes by the schedule: the players of a slot decide and send as soon as it begins, and what has been received is taken in during
// the time that is left of it. So a burst, as when the server sends everybody a snapshot in one tick, waits in the sockets and makes
// nobody late. Where the machine holds the sender up, a second one sends for it, see relief.
func (s *Swarm) Run(ctx context.Context, d time.Duration, until func() bool) error {
	period := s.period()
	begin, cpu := s.clock.Now(), clock.ThreadCPU()+time.Duration(s.spent.Load())
	stolen, _ := clock.Stolen(s.cpus)
	s.slot = int64(begin/period) + 1
	s.queue.begin(s.slot-1, 0)
	s.readRunDelay()
	s.own, s.Figures.RunDelay.Known = clock.StealCorrected{}, s.taken.Known()
	s.backup = s.startBackup()
	defer func() {
		s.Figures.Elapsed += s.clock.Now() - begin
		s.Figures.CPU += clock.ThreadCPU() + time.Duration(s.spent.Load()) - cpu
		s.addSteal(stolen)
	}()
	for ; ; s.slot++ {
		due := time.Duration(s.slot) * period
		s.setBeat(due)
		if due > begin+d || ctx.Err() != nil {
			break
		}
		begun, slept := s.wait(due)
		s.begin(due, begun, slept)
		s.playSlot()
		end := s.clock.Now()
		s.work(end, s.readRunDelay())
		sent := end - begun - s.lost
		if s.asked = s.asked || s.slot%slots == 0; s.asked && s.tick(until) {
			break
		}
		s.receiveUntil(due+period-period/8, sent)
		s.work(s.clock.Now(), s.readRunDelay())
		s.skipSlots(due, begun)
	}
	s.backup.stop()
	s.gather(&s.sender)
	return s.Err()
}

// tick does what is done once a tick, without the relief, and reports whether to stop. While that is at somebody, perhaps on a processor that was taken from it, the next slot
// has to do.
func (s *Swarm) tick(until func() bool) bool {
	if !s.gate.tryShut() {
		return false
	}
	defer s.gate.open.Store(true)
	s.asked = false
	s.gather(&s.sender)
	if s.backup != nil {
		s.gather(&s.backup.sender)
	}
	s.lookAround()
	return until != nil && until()
}

// period is that of a slot.
func (s *Swarm) period() time.Duration { return s.cfg.Rate.Period() / slots }

// wait waits for the instant due and returns the time, and whether there was anything to wait for. What is taken while the thread is parked
// is looked at apart, since it makes nothing late, unless that lasts beyond the instant.
func (s *Swarm) wait(due time.Duration) (now time.Duration, slept bool) {
	if s.clock.Park(due) && s.clock.Now() < due {
		s.readRunDelay()
	}
	slept = s.clock.Now() < due
	s.clock.Sleep(due)
	return s.clock.Now(), slept
}

// begin begins the slot that was due at an instant, after a sleep or without one.
func (s *Swarm) begin(due, begun time.Duration, slept bool) {
	took := s.readRunDelay()
	s.now, s.lost = begun, 0
	s.own.Begin(due, begun, took)
	if slept {
		s.Figures.RunDelay.woke(begun - due - took)
	}
	s.setBeat(begun)
	cpu := clock.CPU()
	if s.on.Store(int32(cpu)); uint(cpu) < maxCPUs {
		s.slotsOn[cpu]++
	}
}

// maxCPUs is how many processors a driver knows one from another of.
const maxCPUs = 1024

// readRunDelay is what the machine took since it was last asked.
func (s *Swarm) readRunDelay() time.Duration {
	d := s.taken.Read(time.Duration(s.aside.Load()))
	s.Figures.RunDelay.add(d)
	s.lost += d
	return d
}

// work tells the own schedule that the driver worked until the instant now, and what was taken of that.
func (s *Swarm) work(now, took time.Duration) {
	s.own.Work(now, took)
	s.setBeat(now)
}

// sentUntil is when the driver has sent what it has, by the clock and by its own schedule.
func (s *Swarm) sentUntil() (now, own time.Duration) {
	now = s.clock.Now()
	s.work(now, s.readRunDelay())
	return now, s.own.Now()
}

// gather adds what a hand has counted to the figures. Who cannot send before anybody is in waits for a server.
func (s *Swarm) gather(h *sender) {
	s.Figures.Sent.add(h.sent)
	h.sent = Sent{}
	if h.err != nil && s.err == nil && s.Joined() > 0 {
		s.err = h.err
	}
	h.err = nil
}

// addSteal adds what a hypervisor took since it had taken so much.
func (s *Swarm) addSteal(before time.Duration) {
	t := &s.Figures.RunDelay
	if now, ok := clock.Stolen(s.cpus); ok {
		t.Stolen, t.StolenKnown = t.Stolen+now-before, true
	}
}

// skipSlots leaves out the slots that cannot be made up for, after one that began over a tick late, and counts their turns as late: but for those that the relief has
// played.
func (s *Swarm) skipSlots(due, begun time.Duration) {
	behind := int64((begun - due) / s.period())
	if behind <= slots {
		return
	}
	each := max(len(s.bots)/slots, 1)
	for range behind {
		s.slot++
		due += s.period()
		if s.queue.begin(s.slot, 0) {
			s.own.Skip(due)
			s.sender.late(begun-due, min(s.own.Late(), begun-due), each)
		}
	}
}

// receiveUntil takes in what has arrived until the instant end, after the sending of a slot has taken the time sent. Where that left no time for all of
// it in a tick of sending, receiving gets as much as the sending until all is in: a swarm that cannot keep up must say so by its lateness, and
// not lose its sessions. To begin with that at once would delay the slots that make up for what the machine took.
func (s *Swarm) receiveUntil(end, sent time.Duration) {
	sent = max(sent, 0)
	if s.owed += sent; s.owed > s.cfg.Rate.Period() {
		end = max(end, s.clock.Now()+max(sent, s.cfg.Rate.Period()/slots/4))
	}
	if s.poll(end) {
		s.owed = 0
	}
}

// poll takes in what has arrived, until nothing is left or the instant end: some of one lobby, then of the next, from where it last
// stopped. Where there is not the time for all, each is heard as much; to hear one to its end first would let the sessions of the
// others time out. It reports whether that was all.
func (s *Swarm) poll(end time.Duration) bool {
	for silent := 0; silent < len(s.fleet); silent++ {
		if s.now = s.clock.Now(); s.now >= end {
			return false
		}
		s.setBeat(s.now)
		if _, more := s.fleet[s.ear].Poll(pollBatch, s.hear[s.ear]); more {
			silent = -1
		}
		s.ear = (s.ear + 1) % len(s.fleet)
	}
	return true
}

// receive hands a datagram to its player. What is wrong with it, the client counts.
func (s *Swarm) receive(i int, data []byte) {
	s.Figures.DatagramsDown++
	s.Figures.BytesDown += uint64(len(data))
	if i < s.Figures.Sampled {
		s.Figures.SampledDatagrams++
		s.Figures.SampledBytes += uint64(len(data))
	}
	s.lock(i)
	b := &s.bots[i]
	b.at = max(s.now, b.at)
	_ = b.client.Receive(b.at, data)
	s.unlock(i)
}

// beginSlot lets the players of the slot decide and send, if nobody else has. Who has nothing to do yet is passed over without touching it: the memory of thousands
// of clients is further away than the work they take.
func (s *Swarm) playSlot() {
	s.chatAndChurn(int(s.slot % slots))
	s.queue.begin(s.slot, s.turns())
	if !s.cfg.Bare {
		s.playShare()
	} else if s.queue.slot() == s.slot {
		s.sender.sweep(s.slot, s.now, s.sample)
	}
}

// playShare plays a slot whose players look twice a tick whether they are due.
func (s *Swarm) playShare() {
	period, share := s.cfg.Rate.Period(), int(s.slot%shares)
	late := s.now - s.played[share] - period/pollsPerTick // than it should have been after the last time
	s.played[share] = s.now
	s.sender.beginSlot(s.slot)
	early := int64(s.now + period/16) // a clock may run faster by a twentieth than was expected
	for i := share; i < len(s.bots); i += shares {
		if early >= s.due[i].Load() {
			s.sender.step(i, s.now, late)
			s.sample(i)
		}
	}
	s.sender.recordLate()
}

// chatAndChurn lets the players of a slot say something, or go. They are asked once a tick.
func (s *Swarm) chatAndChurn(slot int) {
	if s.cfg.ChatEvery <= 0 && s.cfg.ChurnPerMinute <= 0 {
		return
	}
	if !s.gate.tryShut() {
		return // they are asked again in a tick
	}
	defer s.gate.open.Store(true)
	for i := slot; i < len(s.bots); i += slots {
		s.chat(&s.bots[i])
		if s.err == nil {
			s.err = s.churn(i)
		}
	}
}

// slack is how late a bot's commands may be made and still be in time for sure: the whole ticks that they were last seen
// to wait on the server, and a quarter for clocks that are not read at one instant.
func (s *Swarm) slack(b *player) time.Duration {
	period := s.cfg.Rate.Period()
	return time.Duration(max(b.last.Lead, 0))*period + period/4
}

// observe gathers what bot i decides by.
func (s *Swarm) observe(i int, view *Observation) {
	b, eyes := &s.bots[i], s.eyes[i%len(s.eyes)]
	view.Self, _ = b.client.Self()
	view.ID, view.Visible = uint32(b.client.ID()), eyes
	if now, t, ok := b.client.Predicted(); ok {
		view.Self.Self, view.Tick = now, t+1
	}
	view.Arena = b.client.Arena()
	if slot := b.client.ID().Index(); slot < len(eyes) {
		view.Team = eyes[slot].Team
	}
	s.ways.AddTo(view, b.client)
}

// sample adds what a player experienced since the last sample to the figures, and takes what waits for somebody with eyes. Turns that the relief plays give no
// samples. It returns true, as a sweep goes on.
func (s *Swarm) sample(i int) bool {
	if (s.slot/slots+int64(i/slots))%sampleEvery != 0 {
		return true
	}
	b := &s.bots[i]
	for ok := !s.bare(i); ok; _, ok = b.client.NextEvent() {
	}
	for ok := !s.bare(i); ok; _, ok = b.client.Chat.Next() {
	}
	now := b.client.Pulse()
	if !now.Joined {
		return true
	}
	f := &s.Figures
	if now.Snapshots > 0 {
		f.Age.Record(int64(now.Age))
		f.RTT.Record(int64(now.RTT))
	}
	f.Mispredictions += now.Mispredictions - b.last.Mispredictions
	f.Shots += now.Shots - b.last.Shots
	b.last = now
	return true
}

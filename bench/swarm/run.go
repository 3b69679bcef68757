package swarm

import (
	"context"
	"time"

	"github.com/tickrate/tickrate/internal/pace"
)

const (
	// slots is how many parts of a tick the players are spread over, so that they do not all send at once.
	slots = 16

	// looks is how often in a tick each is asked whether it is time for a command, as a game does whose frames are more than its ticks.
	looks  = 2
	shares = slots / looks // of the players, who are looked at together

	// glance is how many sockets are emptied between two looks at the clock: some ten microseconds of work, or a hundred after a stall of the server.
	glance = 4

	// sampleEvery is how many ticks lie between two samples of a player. The counters among them are exact all the same.
	sampleEvery = 4
)

// Run plays for the time d, or until ctx ends or until tells it to stop; until may be nil and is asked every tick.
//
// Sending goes by the schedule: the players of a slot decide and send as soon as it begins, and what has been received is taken in during
// the time that is left of it. So a burst, as when the server sends everybody a snapshot in one tick, waits in the sockets and makes
// nobody late.
func (s *Swarm) Run(ctx context.Context, d time.Duration, until func() bool) error {
	period := s.cfg.Rate.Period() / slots
	begin, cpu := s.pace.Now(), pace.ThreadCPU()
	stolen, _ := pace.Stolen()
	s.slot = int64(begin/period) + 1
	s.taken.Look()
	s.own = pace.Own{}
	defer func() {
		s.Figures.Elapsed += s.pace.Now() - begin
		s.Figures.CPU += pace.ThreadCPU() - cpu
		s.robbed(stolen)
	}()
	for ; ; s.slot++ {
		due := time.Duration(s.slot) * period
		if due > begin+d || ctx.Err() != nil {
			return s.Err()
		}
		begun, slept := s.wait(due)
		s.now = begun
		took := s.took()
		s.own.Begin(due, begun, took)
		if slept {
			s.Figures.Taken.woke(begun - due - took)
		}
		s.play(int(s.slot % slots))
		end := s.pace.Now()
		took = s.took()
		s.own.Work(end, took)
		s.late(end-due, s.own.Late())
		if s.slot%slots == 0 {
			s.look()
			if until != nil && until() {
				return s.Err()
			}
		}
		s.take(due+period-period/8, end-begun-took)
		s.own.Work(s.pace.Now(), s.took())
		s.giveUp(due, begun, period)
	}
}

// wait waits for the instant due and returns the time, and whether there was anything to wait for. What is taken while the thread is parked
// is looked at apart, since it makes nothing late.
func (s *Swarm) wait(due time.Duration) (now time.Duration, slept bool) {
	if s.pace.Park(due) {
		s.took()
	}
	slept = s.pace.Now() < due
	s.pace.Sleep(due)
	return s.pace.Now(), slept
}

// took is what the machine took since it was last asked.
func (s *Swarm) took() time.Duration {
	d := s.taken.Look()
	s.Figures.Taken.add(d)
	return d
}

// robbed adds what a hypervisor took since it had taken so much.
func (s *Swarm) robbed(before time.Duration) {
	t := &s.Figures.Taken
	t.Known = s.taken.Known()
	if now, ok := pace.Stolen(); ok {
		t.Stolen, t.StolenKnown = t.Stolen+now-before, true
	}
}

// late counts by how much the last datagram of a slot left after the slot's instant, and by how much it had in the swarm's own schedule.
func (s *Swarm) late(by, own time.Duration) {
	f := &s.Figures
	f.Late.Record(int64(by))
	f.Raw.Record(int64(by))
	f.Own.Record(int64(own))
	f.Slots++
	if by > s.cfg.Rate.Period()/2 {
		f.LateSlots++
	}
}

// giveUp leaves out the slots that cannot be made up for, after one that began over a tick late, and counts them as late.
func (s *Swarm) giveUp(due, begun, period time.Duration) {
	behind := int64((begun - due) / period)
	if behind <= slots {
		return
	}
	for range behind {
		due += period
		s.own.Skip(due)
		s.Figures.Late.Record(int64(begun - due))
		s.Figures.Own.Record(int64(min(s.own.Late(), begun-due)))
	}
	s.Figures.Slots += uint64(behind)
	s.Figures.LateSlots += uint64(behind)
	s.slot += behind
}

// take takes in what has arrived until the instant end, after the sending of a slot has taken the time sent. Where that left no time for all of
// it in a tick of sending, receiving gets as much as the sending until all is in: a swarm that cannot keep up must say so by its lateness, and
// not lose its sessions. To begin with that at once would delay the slots that make up for what the machine took.
func (s *Swarm) take(end, sent time.Duration) {
	sent = max(sent, 0)
	if s.owed += sent; s.owed > s.cfg.Rate.Period() {
		end = max(end, s.pace.Now()+max(sent, s.cfg.Rate.Period()/slots/4))
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
		if s.now = s.pace.Now(); s.now >= end {
			return false
		}
		if _, more := s.fleet[s.ear].PollSome(glance, s.hear[s.ear]); more {
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
	_ = s.bots[i].client.Receive(s.now, data)
}

// play lets the players of a slot decide and send. Who has nothing to do yet is passed over without touching it: the memory of thousands
// of clients is further away than the work they take.
func (s *Swarm) play(slot int) {
	period := s.cfg.Rate.Period()
	s.manners(slot)
	if s.cfg.Bare {
		s.sweep()
		return
	}
	share := slot % shares
	late := s.now - s.played[share] - period/looks // than it should have been after the last time
	s.played[share] = s.now
	early := s.now + period/16 // a clock may run faster by a twentieth than was expected
	for i := share; i < len(s.bots); i += shares {
		if early >= s.due[i] {
			s.step(i, late)
		}
	}
}

// manners lets the players of a slot say something, or go. They are asked once a tick.
func (s *Swarm) manners(slot int) {
	if s.cfg.Chat <= 0 && s.cfg.Churn <= 0 {
		return
	}
	for i := slot; i < len(s.bots); i += slots {
		s.chat(&s.bots[i])
		if s.err == nil {
			s.err = s.churn(i)
		}
	}
}

// step lets player i decide about the ticks that are due, and send.
func (s *Swarm) step(i int, late time.Duration) {
	b := &s.bots[i]
	for due := b.client.Advance(s.now); due > 0; due-- {
		b.client.Command(b.brain.Wish(s.sight(i)))
		s.Figures.Ticks++
		if late > s.slack(b) {
			s.Figures.LateTicks++
		}
	}
	s.send(i)
	s.due[i] = b.client.Due()
	if (s.slot/slots+int64(i/slots))%sampleEvery == 0 {
		s.sample(b, s.bare(i))
	}
}

// slack is how late a bot's commands may be made and still be in time for sure: the whole ticks that they were last seen
// to wait on the server, and a quarter for clocks that are not read at one instant.
func (s *Swarm) slack(b *bot) time.Duration {
	period := s.cfg.Rate.Period()
	return time.Duration(max(b.last.Lead, 0))*period + period/4
}

// sight gathers what bot i decides by.
func (s *Swarm) sight(i int) *Sight {
	if s.bare(i) { // it knows nothing
		s.view = Sight{Tick: 1, Rate: s.cfg.Rate}
		return &s.view
	}
	b, eyes := &s.bots[i], s.eyes[i%len(s.eyes)]
	self, _ := b.client.Self()
	view := &s.view
	*view = Sight{Tick: 1, Rate: s.cfg.Rate, Self: self, ID: uint32(b.client.ID()), Eyes: eyes}
	if now, t, ok := b.client.Predicted(); ok {
		view.Self.Self, view.Tick = now, t+1
	}
	view.Arena = b.client.Arena()
	if slot := b.client.ID().Index(); slot < len(eyes) {
		view.Team = eyes[slot].Team
	}
	s.ways.Show(view, b.client)
	return view
}

// sample adds what a player experienced since the last sample to the figures, and takes what waits for somebody with eyes.
func (s *Swarm) sample(b *bot, bare bool) {
	for ok := !bare; ok; _, ok = b.client.NextEvent() {
	}
	for ok := !bare; ok; _, ok = b.client.NextLine() {
	}
	now := b.client.Pulse()
	if !now.Joined {
		return
	}
	f := &s.Figures
	if now.Snapshots > 0 {
		f.Age.Record(int64(now.Age))
		f.RTT.Record(int64(now.RTT))
	}
	f.Mispredictions += now.Mispredictions - b.last.Mispredictions
	f.Shots += now.Shots - b.last.Shots
	b.last = now
}

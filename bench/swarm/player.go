package swarm

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/sim"
)

// player is one client and its brain.
type player struct {
	client *client.Client
	at     time.Duration // newest instant that the client was given
	brain  Brain
	rng    rng          // of chat and churn
	last   client.Pulse // as far as the figures have it

	refused bool // by the server, as Settled has told
}

func (s *Swarm) newPlayer(n int) (player, error) {
	number := s.cfg.First + n
	token, err := s.cfg.Token(number)
	if err != nil {
		return player{}, fmt.Errorf("token for player %d: %w", number, err)
	}
	c, err := client.New(client.Config{
		Token: token, Name: "bot " + strconv.Itoa(number),
		Decode: s.cfg.decode(n), Rules: sim.Rules{Rate: s.cfg.Rate},
		Arena: s.content.arena, Models: s.cfg.Models, FindModels: s.content.model, Content: s.cfg.Content,
		Ordered: !s.cfg.Choose, Corrections: s.cfg.Corrections,
		Fetch: true, Fetched: func(f client.Fetched) { s.content.add(f); s.Figures.Fetched++ },
	})
	if err != nil {
		return player{}, fmt.Errorf("player %d: %w", number, err)
	}
	if s.cfg.Choose {
		if err := s.sockets.reach(c.Addresses(), len(s.players)); err != nil {
			return player{}, fmt.Errorf("player %d: %w", number, err)
		}
	}
	p := player{client: c, rng: rng(s.cfg.Seed<<32 ^ uint64(number)<<8 ^ 0xc4a7)}
	if s.cfg.blind(n) {
		s.blind[n] = NewBlindBot(s.cfg.Seed, number)
		p.brain = &s.blind[n]
	} else {
		p.brain = s.cfg.Brain(number)
	}
	return p, nil
}

// slack is how late a player's command may be and still be in time: the whole ticks that its
// commands were last seen to wait on the server, and a quarter for clocks that are not read at one
// instant.
func (p *player) slack(period time.Duration) time.Duration {
	return time.Duration(max(p.last.Lead, 0))*period + period/4
}

// lines are what players say.
var lines = [...]string{
	"hello", "nice shot", "where is everybody?", "/team go left", "/team I need help", "good game",
}

// chat lets player i say something at random. It is called once a tick.
func (s *Swarm) chat(i int) {
	p, chance := &s.players[i], float32(s.cfg.Rate.Period())/float32(s.cfg.ChatEvery)
	if s.cfg.ChatEvery <= 0 || !p.rng.chance(chance) {
		return
	}
	if p.client.Chat.Say(lines[p.rng.next()%uint64(len(lines))]) == nil {
		s.Figures.Said++
	}
}

// churn replaces player i by another at random. It is called once a tick.
func (s *Swarm) churn(i int) error {
	p, chance := &s.players[i], float32(s.cfg.ChurnPerMinute/60*s.cfg.Rate.Period().Seconds())
	if s.cfg.ChurnPerMinute <= 0 || i < s.cfg.Full || !p.rng.chance(chance) {
		return nil
	}
	if st, _ := p.client.State(); st != client.Joined {
		return nil
	}
	s.hear(i) // the next player gets none of it
	now := max(s.driver.now, p.at)
	p.client.Leave(now)
	s.sender.send(i, now)
	s.sender.flush()
	next, err := s.newPlayer(i)
	if err != nil {
		return err
	}
	next.rng = p.rng
	*p = next
	s.passes.due[i].Store(int64(s.driver.now))
	s.Figures.Churned++
	return nil
}

// chatAndChurn lets the players of a slot chat and leave, once a tick.
func (s *Swarm) chatAndChurn(slot int) {
	if s.cfg.ChatEvery <= 0 && s.cfg.ChurnPerMinute <= 0 {
		return
	}
	if !s.passes.latch.tryClose() {
		return // they have their next chance in a tick
	}
	defer s.passes.latch.open.Store(true)
	for i := slot; i < len(s.players); i += int(s.slots()) {
		s.chat(i)
		if s.err == nil {
			s.err = s.churn(i)
		}
	}
}

// sample adds what player i experienced since its last sample to the figures, and drains its
// queues. Passes of the backup are not sampled. It returns true, so that a sweep goes on.
func (s *Swarm) sample(i int) bool {
	if (s.driver.slot/s.slots()+int64(i)/s.slots())%sampleEvery != 0 {
		return true
	}
	p := &s.players[i]
	if !s.cfg.blind(i) {
		for ok := true; ok; _, ok = p.client.NextEvent() {
		}
		for ok := true; ok; _, ok = p.client.Chat.Next() {
		}
	}
	now := p.client.Pulse()
	if !now.Joined {
		return true
	}
	f := &s.Figures
	if now.Snapshots > 0 {
		f.Age.Record(int64(now.Age))
		f.RTT.Record(int64(now.RTT))
	}
	f.Mispredictions += now.Mispredictions - p.last.Mispredictions
	f.Shots += now.Shots - p.last.Shots
	p.last = now
	return true
}

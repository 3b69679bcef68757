package swarm

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/pace"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/ghost"
)

// Config describes a swarm. Zero fields mean the defaults named.
type Config struct {
	Server  netip.AddrPort
	Servers []netip.AddrPort // of several lobbies: player n plays on the one of number n modulo their count; default Server alone
	Players int
	Full    int    // how many of them decode everything they are sent; default 1. The others decode their own state only. The first of them, up to 8, account for their bytes.
	Seed    uint64 // of everything the players do
	Rate    tick.Rate
	Models  ghost.Models                                           // what the players have to begin with; default ghost.Trained. Others the server sends.
	Token   func(n int) ([]byte, error)                            // a connect token for bot n, which dials Server whatever it names; required
	Arena   func(name string, hash [32]byte) (*arena.Arena, error) // default client.Known; others the server sends
	Content *content.Pack                                          // what the players have of the game's content; default the pack of this build
	Brain   func(n int) Brain                                      // of bot n; default NewWander(Seed, n)
	Chat    time.Duration                                          // each bot says something to all about once in this time; default never
	Arrival time.Duration                                          // over which the players begin to connect, one after another; default all at once
	Churn   float64                                                // players but the full ones leave so often a minute, each; another takes the place at once, with a token of its own
}

// slots is how many parts of a tick the players are spread over, so that they do not all send at once; looks is how often
// in a tick each is asked whether it is time for a command, as a game does whose frames are more than its ticks.
const (
	slots = 8
	looks = 2
)

// mostSampled is how many players account for what they receive: enough to tell, and few enough to cost the swarm nothing.
const mostSampled = 8

// Swarm is a number of players on one server. One goroutine owns it.
type Swarm struct {
	Figures Figures

	cfg   Config
	fleet []*netio.Fleet      // by lobby
	hear  []func(int, []byte) // receive of each lobby, made a value once
	bots  []bot
	maps  map[[32]byte]*arena.Arena // by hash, what the server sent among them
	model map[uint64]ghost.Models   // likewise
	eyes  [][]Enemy                 // by lobby
	view  Sight
	ways  Ways
	pace  *pace.Pacer
	slot  int64 // next slot of the schedule
	now   time.Duration
	err   error
}

// bot is one player.
type bot struct {
	client *client.Client
	brain  Brain
	dice   dice         // of what it says
	last   client.Stats // as far as it is in the figures
	played time.Duration
	born   time.Duration // it does nothing before
}

// ErrNoTokens is Open's error for a Config without Token.
var ErrNoTokens = errors.New("swarm: no function that gives connect tokens")

// Open makes the players and their sockets; they begin to connect with the first Run. It binds the calling goroutine
// to its thread.
func Open(cfg Config) (*Swarm, error) {
	if cfg.Rate == 0 {
		cfg.Rate = tick.DefaultRate
	}
	if cfg.Full == 0 {
		cfg.Full = 1
	}
	if cfg.Models == (ghost.Models{}) {
		cfg.Models = ghost.Trained()
	}
	if cfg.Brain == nil {
		cfg.Brain = func(n int) Brain { return NewWander(cfg.Seed, n) }
	}
	if cfg.Token == nil {
		return nil, ErrNoTokens
	}
	if len(cfg.Servers) == 0 {
		cfg.Servers = []netip.AddrPort{cfg.Server}
	}
	lobbies := len(cfg.Servers)
	cfg.Full = max(cfg.Full, lobbies) // one to see with in each
	s := &Swarm{Figures: newFigures(), cfg: cfg, eyes: make([][]Enemy, lobbies), bots: make([]bot, cfg.Players),
		maps: map[[32]byte]*arena.Arena{}, model: map[uint64]ghost.Models{}, pace: pace.New()}
	for l, at := range cfg.Servers {
		fleet, err := netio.OpenFleet(at, (cfg.Players-l+lobbies-1)/lobbies)
		if err != nil {
			return nil, errors.Join(err, s.shut())
		}
		s.fleet = append(s.fleet, fleet)
		s.hear = append(s.hear, func(i int, data []byte) { s.receive(i*lobbies+l, data) })
	}
	for i := range s.bots {
		var err error
		if s.bots[i], err = s.bot(i); err != nil {
			return nil, errors.Join(err, s.shut())
		}
		s.bots[i].born = time.Duration(i) * cfg.Arrival / time.Duration(cfg.Players)
	}
	s.Figures.Sampled = min(cfg.Full, cfg.Players, mostSampled)
	for i := range s.Figures.Sampled {
		s.bots[i].client.Account(s.Figures.Account)
	}
	return s, nil
}

func (s *Swarm) bot(n int) (bot, error) {
	token, err := s.cfg.Token(n)
	if err != nil {
		return bot{}, fmt.Errorf("token for player %d: %w", n, err)
	}
	c, err := client.New(client.Config{
		Token: token, Arena: s.arena, Models: s.cfg.Models, Model: func(hash uint64) ghost.Models { return s.model[hash] },
		Fetch: true, Fetched: s.keep, Content: s.cfg.Content, Rules: sim.Rules{Rate: s.cfg.Rate}, Thin: n >= s.cfg.Full,
		Name: "bot " + strconv.Itoa(n),
	})
	if err != nil {
		return bot{}, fmt.Errorf("player %d: %w", n, err)
	}
	return bot{client: c, brain: s.cfg.Brain(n), dice: dice(s.cfg.Seed<<32 ^ uint64(n)<<8 ^ 0xc4a7)}, nil
}

// arena opens a map once for all players.
func (s *Swarm) arena(name string, hash [32]byte) (*arena.Arena, error) {
	if a := s.maps[hash]; a != nil {
		return a, nil
	}
	open := s.cfg.Arena
	if open == nil {
		open = client.Known
	}
	a, err := open(name, hash)
	if (err != nil || a == nil) && s.cfg.Content != nil { // a map of the pack, by its own name
		if ground, ok, bad := s.cfg.Content.Ground(name); ok {
			a, err = ground, bad
		}
	}
	if err == nil && a != nil && a.Hash() == hash {
		s.maps[hash] = a
	}
	return a, err
}

// keep has what one player was sent for all the others.
func (s *Swarm) keep(f client.Fetched) {
	if f.Arena != nil {
		s.maps[f.Arena.Hash()] = f.Arena
	} else {
		s.model[f.Models.Hash()] = f.Models
	}
	s.Figures.Fetched++
}

// Reset begins new figures.
func (s *Swarm) Reset() { s.Figures.reset() }

// Joined counts the players who are in.
func (s *Swarm) Joined() (n int) {
	for i := range s.bots {
		if st, _ := s.bots[i].client.State(); st == client.Joined {
			n++
		}
	}
	return n
}

// Err returns why a player is not in the match, if one was refused or lost.
func (s *Swarm) Err() error {
	for i := range s.bots {
		if st, why := s.bots[i].client.State(); st > client.Joined {
			err := s.bots[i].client.Err()
			if err == nil {
				err = errors.New(why.String())
			}
			return fmt.Errorf("player %d of %d: %v: %w", i, len(s.bots), st, err)
		}
	}
	return s.err
}

// Client returns player i's client: for looking, between runs.
func (s *Swarm) Client(i int) *client.Client { return s.bots[i].client }

// Run plays for the time d, or until ctx ends or until tells it to stop; until may be nil and is asked every tick.
func (s *Swarm) Run(ctx context.Context, d time.Duration, until func() bool) error {
	period := s.cfg.Rate.Period() / slots
	begin, cpu := s.pace.Now(), pace.ThreadCPU()
	s.slot = int64(begin/period) + 1
	defer func() {
		s.Figures.Elapsed += s.pace.Now() - begin
		s.Figures.CPU += pace.ThreadCPU() - cpu
	}()
	for ; ; s.slot++ {
		due := time.Duration(s.slot) * period
		if due > begin+d || ctx.Err() != nil {
			return s.Err()
		}
		s.now = s.pace.Until(due)
		late := s.now - due
		s.Figures.Late.Record(int64(late))
		s.Figures.Raw.Record(int64(late))
		s.Figures.Slots++
		if late > s.cfg.Rate.Period()/2 {
			s.Figures.LateSlots++
		}
		if behind := int64(late / period); behind > slots { // over a tick: the slots in between cannot be made up for
			for i := range behind {
				s.Figures.Late.Record(int64(late) - i*int64(period))
			}
			s.Figures.Slots += uint64(behind)
			s.Figures.LateSlots += uint64(behind)
			s.slot += behind
		}
		for l, f := range s.fleet {
			f.Poll(s.hear[l])
		}
		s.play(int(s.slot % slots))
		if s.slot%slots == 0 {
			s.look()
			if until != nil && until() {
				return s.Err()
			}
		}
	}
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

// play lets every player of a slot decide and send.
func (s *Swarm) play(slot int) {
	for i := slot % (slots / looks); i < len(s.bots); i += slots / looks {
		b := &s.bots[i]
		if s.now < b.born {
			continue
		}
		late := s.now - b.played - s.cfg.Rate.Period()/looks // than it should have been after the last time
		b.played = s.now
		for due := b.client.Advance(s.now); due > 0; due-- {
			b.client.Command(b.brain.Wish(s.sight(i)))
			s.Figures.Ticks++
			if late > s.slack(b) {
				s.Figures.LateTicks++
			}
		}
		for { // events are for players with eyes
			if _, ok := b.client.NextEvent(); !ok {
				break
			}
		}
		for {
			if _, ok := b.client.NextLine(); !ok {
				break
			}
		}
		if i%slots == slot {
			s.chat(b)
			if s.err == nil {
				s.err = s.churn(i)
			}
		}
		s.send(i)
		if i%slots == slot {
			s.sample(b)
		}
	}
}

// lines are what bots have to say.
var lines = [...]string{"hello", "nice shot", "where is everybody?", "/team go left", "/team I need help", "good game"}

// chat lets a bot say something now and then. It is asked once a tick.
func (s *Swarm) chat(b *bot) {
	if s.cfg.Chat <= 0 || !b.dice.chance(float32(s.cfg.Rate.Period())/float32(s.cfg.Chat)) {
		return
	}
	if b.client.Say(lines[b.dice.next()%uint64(len(lines))]) == nil {
		s.Figures.Said++
	}
}

// churn lets a player go now and then, and another come in its place. It is asked once a tick.
func (s *Swarm) churn(i int) error {
	b := &s.bots[i]
	if s.cfg.Churn <= 0 || i < s.cfg.Full || !b.dice.chance(float32(s.cfg.Churn/60*s.cfg.Rate.Period().Seconds())) {
		return nil
	}
	if st, _ := b.client.State(); st != client.Joined {
		return nil
	}
	b.client.Leave(s.now)
	s.send(i)
	dice := b.dice
	next, err := s.bot(i)
	if err != nil {
		return err
	}
	*b = next
	b.dice, b.played = dice, s.now
	s.Figures.Churned++
	return nil
}

// slack is how late a bot's commands may be made and still be in time for sure: the whole ticks that they were last seen
// to wait on the server, and a quarter for clocks that are not read at one instant.
func (s *Swarm) slack(b *bot) time.Duration {
	period := s.cfg.Rate.Period()
	return time.Duration(max(b.last.Lead, 0))*period + period/4
}

// send sends what player i has to say.
func (s *Swarm) send(i int) {
	out := s.bots[i].client.Outgoing(s.now)
	for k := range out.Len() {
		_, data := out.At(k)
		s.Figures.Sends++
		s.Figures.BytesUp += uint64(len(data))
		if err := s.fleet[i%len(s.fleet)].Send(i/len(s.fleet), data); err != nil && s.err == nil && s.Joined() > 0 {
			s.err = fmt.Errorf("player %d: %w", i, err)
		}
	}
}

// sight gathers what bot i decides by.
func (s *Swarm) sight(i int) *Sight {
	b, eyes := &s.bots[i], s.eyes[i%len(s.eyes)]
	self, _ := b.client.Self()
	view := &s.view
	*view = Sight{Tick: 1, Rate: s.cfg.Rate, Self: self, ID: uint32(b.client.ID()), Eyes: eyes}
	if now, t, ok := b.client.Predicted(); ok {
		view.Self.Self, view.Tick = now, t+1
	}
	view.Arena = s.maps[b.client.Welcome().ArenaHash]
	if slot := b.client.ID().Index(); slot < len(eyes) {
		view.Team = eyes[slot].Team
	}
	s.ways.Show(view, b.client)
	return view
}

// look renews what everybody of a lobby knows of everybody, through the eyes of its first full client.
func (s *Swarm) look() {
	for l := range s.eyes {
		if l >= len(s.bots) {
			break
		}
		c := s.bots[l].client
		if st, _ := c.State(); st != client.Joined {
			continue
		}
		if s.eyes[l] == nil {
			s.eyes[l] = make([]Enemy, c.Welcome().MaxPlayers)
		}
		seen := uint64(0)
		for slot := range s.eyes[l] {
			s.eyes[l][slot] = Enemy{}
			if p, ok := c.Pose(slot); ok {
				s.eyes[l][slot] = Enemy{ID: p.ID, Team: p.Team(), Alive: p.Alive(), Pos: p.Pos}
				if p.ID != uint32(c.ID()) {
					seen++
				}
			}
		}
		s.Figures.Looks++
		s.Figures.Seen += seen
	}
}

// sample adds what a player experienced since the last sample to the figures.
func (s *Swarm) sample(b *bot) {
	if st, _ := b.client.State(); st != client.Joined {
		return
	}
	now := b.client.Stats()
	f := &s.Figures
	if now.Snapshots > 0 {
		f.Age.Record(int64(now.SnapshotAge))
		f.RTT.Record(int64(now.RTT))
	}
	f.Mispredictions += now.Prediction.Mispredictions - b.last.Prediction.Mispredictions
	f.Shots += now.Shots - b.last.Shots
	b.last = now
}

// Close lets every player leave and closes the sockets.
func (s *Swarm) Close() error {
	for i := range s.bots {
		s.bots[i].client.Leave(s.now)
		out := s.bots[i].client.Outgoing(s.now)
		for k := range out.Len() {
			_, data := out.At(k)
			_ = s.fleet[i%len(s.fleet)].Send(i/len(s.fleet), data) // a server that has gone needs no goodbye
		}
	}
	return s.shut()
}

// shut closes the sockets.
func (s *Swarm) shut() (err error) {
	for _, f := range s.fleet {
		err = errors.Join(err, f.Close())
	}
	return err
}

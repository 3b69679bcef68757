package swarm

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Config describes a swarm. Zero fields mean the defaults named.
type Config struct {
	Server         netip.AddrPort
	Servers        []netip.AddrPort // of several lobbies: player n plays on the one of number n modulo their count; default Server alone
	Players        int
	Full           int    // how many of them decode everything they are sent; default 1. The others decode their own state only. The first of them, up to 8, account for their bytes.
	Bare           bool   // the others decode acks and headers only, see client.Config.Bare: they play by BlindBot, whatever Brain says
	Seed           uint64 // of everything the players do
	Rate           tick.Rate
	Models         netstate.Models                                        // what the players have to begin with; default netstate.Trained. Others the server sends.
	Token          func(n int) ([]byte, error)                            // a connect token for bot n, which dials Server whatever it names; required
	Arena          func(name string, hash [32]byte) (*arena.Arena, error) // default client.Known; others the server sends
	Content        *content.Pack                                          // what the players have of the game's content; default the pack of this build
	Brain          func(n int) Brain                                      // of bot n; default NewBot(Seed, n)
	ChatEvery      time.Duration                                          // each bot says something to all about once in this time; default never
	Arrival        time.Duration                                          // over which the players begin to connect, one after another; default all at once
	ChurnPerMinute float64                                                // players but the full ones leave so often a minute, each; another takes the place at once, with a token of its own
}

// maxSampled is how many players account for what they receive: enough to tell, and few enough to cost the swarm nothing.
const maxSampled = 8

// Swarm is a number of players on one server. One goroutine owns it.
type Swarm struct {
	Figures Figures

	cfg     Config
	fleet   []*netio.ClientPool // by lobby
	hear    []func(int, []byte) // receive of each lobby, made a value once
	ear     int                 // the lobby that is heard next
	bots    []player
	due     []atomic.Int64             // by bot: not before this has it anything to do, ns
	held    []atomic.Bool              // by bot: somebody has it in hand
	sender  sender                     // the driver's
	gate    gate                       // shut while the driver is at more than single players
	beat    atomic.Int64               // when the driver moved last, or will, ns
	on      atomic.Int32               // the processor that it was on
	slotsOn [maxCPUs]int               // slots that it began, by processor
	spent   atomic.Int64               // CPU time of the reliefs, ns
	aside   atomic.Int64               // of that, on other processors than the driver's
	backup  *backup                    // of the run; nil: none
	asked   bool                       // what is done once a tick is due
	lost    time.Duration              // what was taken of its slot
	played  [shares]time.Duration      // by share of the bots: when they were last looked at
	maps    map[[32]byte]*arena.Arena  // by hash, what the server sent among them
	model   map[uint64]netstate.Models // likewise
	eyes    [][]VisiblePlayer          // by lobby
	ways    FlowField
	drifts  []BlindBot // of bare bots, by bot
	queue   queue
	cpus    []int // processors that it may use
	clock   *clock.Pacer
	taken   *clock.RunDelay // from the goroutine's thread
	own     clock.StealCorrected
	slot    int64 // next slot of the schedule
	now     time.Duration
	owed    time.Duration // of sending, since all that had arrived was last taken in
	err     error
}

// newPlayer is one player.
type player struct {
	client *client.Client
	at     time.Duration // the newest instant that the client was told
	brain  Brain
	dice   rng          // of what it says
	last   client.Pulse // as far as it is in the figures
}

// ErrNoTokens is Open's error for a Config without Token.
var ErrNoTokens = errors.New("swarm: no function that gives connect tokens")

// Open makes the players and their sockets; they begin to connect with the first Run. It binds the calling goroutine
// to its thread, which the Runs of a bare swarm keep to one processor and have the kernel prefer, where it may.
func Open(cfg Config) (*Swarm, error) {
	if cfg.Rate == 0 {
		cfg.Rate = tick.DefaultRate
	}
	if cfg.Full == 0 {
		cfg.Full = 1
	}
	if cfg.Models == (netstate.Models{}) {
		cfg.Models = netstate.Trained()
	}
	if cfg.Brain == nil {
		cfg.Brain = func(n int) Brain { return NewBot(cfg.Seed, n) }
	}
	if cfg.Token == nil {
		return nil, ErrNoTokens
	}
	if len(cfg.Servers) == 0 {
		cfg.Servers = []netip.AddrPort{cfg.Server}
	}
	lobbies := len(cfg.Servers)
	cfg.Full = max(cfg.Full, lobbies) // one to see with in each
	s := &Swarm{Figures: newFigures(), cfg: cfg, eyes: make([][]VisiblePlayer, lobbies), bots: make([]player, cfg.Players), due: make([]atomic.Int64, cfg.Players), held: make([]atomic.Bool, cfg.Players),
		maps: map[[32]byte]*arena.Arena{}, model: map[uint64]netstate.Models{}, cpus: clock.CPUs(), clock: clock.New(), taken: clock.NewRunDelay()}
	s.sender.s, s.sender.sentUntil = s, s.sentUntil
	if cfg.Bare {
		s.drifts = make([]BlindBot, cfg.Players)
	}
	for l, at := range cfg.Servers {
		fleet, err := netio.OpenClientPool(at, (cfg.Players-l+lobbies-1)/lobbies)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.fleet = append(s.fleet, fleet)
		s.hear = append(s.hear, func(i int, data []byte) { s.receive(i*lobbies+l, data) })
	}
	for i := range s.bots {
		var err error
		if s.bots[i], err = s.newPlayer(i); err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.due[i].Store(int64(time.Duration(i) * cfg.Arrival / time.Duration(cfg.Players)))
	}
	s.Figures.Sampled = min(cfg.Full, cfg.Players, maxSampled)
	for i := range s.Figures.Sampled {
		s.bots[i].client.Meter = s.Figures.Meter
	}
	return s, nil
}

func (s *Swarm) newPlayer(n int) (player, error) {
	token, err := s.cfg.Token(n)
	if err != nil {
		return player{}, fmt.Errorf("token for player %d: %w", n, err)
	}
	c, err := client.New(client.Config{
		Token: token, Arena: s.arena, Models: s.cfg.Models, Model: func(hash uint64) netstate.Models { return s.model[hash] },
		Fetch: true, Fetched: s.keepContent, Content: s.cfg.Content, Rules: sim.Rules{Rate: s.cfg.Rate}, Decode: s.decode(n),
		Name: "bot " + strconv.Itoa(n),
	})
	if err != nil {
		return player{}, fmt.Errorf("player %d: %w", n, err)
	}
	brain := Brain(nil)
	if s.bare(n) {
		s.drifts[n] = NewBlindBot(s.cfg.Seed, n)
		brain = &s.drifts[n]
	} else {
		brain = s.cfg.Brain(n)
	}
	return player{client: c, brain: brain, dice: rng(s.cfg.Seed<<32 ^ uint64(n)<<8 ^ 0xc4a7)}, nil
}

// decode is how much bot n decodes of snapshots.
func (s *Swarm) decode(n int) client.Decode {
	switch {
	case n < s.cfg.Full:
		return client.DecodeFull
	case s.cfg.Bare:
		return client.DecodeAcks
	}
	return client.DecodeOwn
}

// bare reports whether bot n decodes acks and headers only.
func (s *Swarm) bare(n int) bool { return s.cfg.Bare && n >= s.cfg.Full }

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

// keepContent has what one player was sent for all the others.
func (s *Swarm) keepContent(f client.Fetched) {
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

// lines are what bots have to say.
var lines = [...]string{"hello", "nice shot", "where is everybody?", "/team go left", "/team I need help", "good game"}

// chat lets a bot say something now and then. It is asked once a tick.
func (s *Swarm) chat(b *player) {
	if s.cfg.ChatEvery <= 0 || !b.dice.chance(float32(s.cfg.Rate.Period())/float32(s.cfg.ChatEvery)) {
		return
	}
	if b.client.Chat.Say(lines[b.dice.next()%uint64(len(lines))]) == nil {
		s.Figures.Said++
	}
}

// churn lets a player go now and then, and another come in its place. It is asked once a tick.
func (s *Swarm) churn(i int) error {
	b := &s.bots[i]
	if s.cfg.ChurnPerMinute <= 0 || i < s.cfg.Full || !b.dice.chance(float32(s.cfg.ChurnPerMinute/60*s.cfg.Rate.Period().Seconds())) {
		return nil
	}
	if st, _ := b.client.State(); st != client.Joined {
		return nil
	}
	now := max(s.now, b.at)
	b.client.Leave(now)
	s.sender.send(i, now)
	dice := b.dice
	next, err := s.newPlayer(i)
	if err != nil {
		return err
	}
	*b = next
	b.dice = dice
	s.due[i].Store(int64(s.now))
	s.Figures.Churned++
	return nil
}

// sentUntil renews what everybody of a lobby knows of everybody, through the eyes of its first full client.
func (s *Swarm) lookAround() {
	for l := range s.eyes {
		if l >= len(s.bots) {
			break
		}
		c := s.bots[l].client
		if st, _ := c.State(); st != client.Joined {
			continue
		}
		if s.eyes[l] == nil {
			s.eyes[l] = make([]VisiblePlayer, c.Welcome().MaxPlayers)
		}
		seen := uint64(0)
		for slot := range s.eyes[l] {
			s.eyes[l][slot] = VisiblePlayer{}
			if p, ok := c.Pose(slot); ok {
				s.eyes[l][slot] = VisiblePlayer{ID: p.ID, Team: p.Team(), Alive: p.Alive(), Pos: p.Pos}
				if p.ID != uint32(c.ID()) {
					seen++
				}
			}
		}
		s.Figures.Observations++
		s.Figures.Seen += seen
	}
}

// Close lets every player leave and closes the sockets.
func (s *Swarm) Close() error {
	for i := range s.bots {
		now := max(s.now, s.bots[i].at)
		s.bots[i].client.Leave(now)
		out := s.bots[i].client.Outgoing(now)
		for k := range out.Len() {
			_, data := out.At(k)
			_ = s.fleet[i%len(s.fleet)].Send(i/len(s.fleet), data) // a server that has gone needs no goodbye
		}
	}
	return s.close()
}

// close closes the sockets, and what else is open.
func (s *Swarm) close() (err error) {
	s.taken.Close()
	for _, f := range s.fleet {
		err = errors.Join(err, f.Close())
	}
	return err
}

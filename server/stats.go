package server

import (
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/sim"
)

// Stage is a part of a tick whose CPU time is kept apart: a station of the circle, or one of the match's systems.
type Stage int

// The stages, in the order of the tick.
const (
	StageReceive Stage = iota // socket -> packet -> command
	StageOpen                 // of it: what sealed datagrams, and handshakes, cost
	StageSystems              // the first of sim.Systems; the others follow
)

// The stages behind the systems.
var (
	StageCapture  = StageSystems + Stage(len(sim.Systems())) // structural changes and the frame
	StageSnapshot = StageCapture + 1                         // delta, compression, packets
	StageSeal     = StageCapture + 2                         // encryption of what leaves
	StageSend     = StageCapture + 3                         // system calls
	StageIdle     = StageCapture + 4                         // between ticks; not measured
	StageInterest = StageCapture + 5                         // part of StageSnapshot, for profilers only: who is told of whom
	StageDelta    = StageCapture + 6                         // likewise: what is said of them, coded and packed
	Stages        = int(StageSend) + 1
)

// String names the stage as profiles and tables do.
func (s Stage) String() string {
	switch {
	case s == StageReceive:
		return "receive"
	case s == StageOpen:
		return "open"
	case s >= StageSystems && s < StageCapture:
		return sim.Systems()[s-StageSystems].Name
	case s == StageCapture:
		return "capture"
	case s == StageSnapshot:
		return "snapshot"
	case s == StageSeal:
		return "seal"
	case s == StageSend:
		return "send"
	case s == StageIdle:
		return "idle"
	case s == StageInterest:
		return "interest"
	case s == StageDelta:
		return "delta"
	}
	return "?"
}

// Count names one of a lobby's counters. Counters only grow.
type Count int

// The counters. Received is Accepted plus the sums of Refused and Drops, always.
const (
	Received        Count = iota // datagrams in
	Accepted                     // datagrams in that were not dropped
	BytesIn                      // UDP payload in
	Sent                         // datagrams out
	BytesOut                     // UDP payload out
	InputsUsed                   // player ticks that ran with the player's own command
	InputsMissing                // player ticks that ran without
	InputsDuplicate              // commands that came before: they travel until they are acknowledged
	InputsStale                  // commands for ticks that have been played
	InputsFuture                 // commands for ticks too far ahead
	InputsConflict               // commands that differ from one that waits for the same tick
	InputsClamped                // commands of which a field was mended
	Shots
	Clamped // shots whose claimed view was moved into what the server knows to be possible
	Hits
	Kills
	EventsRefused // events that a peer's full queue did not take
	EventsUnknown // events from clients that mean nothing here
	Joined
	Left
	TimedOut
	Dismissed    // sessions that the lobby ended, with a reason
	Returned     // sessions that found the player of an earlier one, which are in Joined unless they took over a living one
	Takeovers    // of these, the ones that took over a living session
	Moved        // sessions that went on at another address
	Kicked       // sessions that ended because they sent far too much; those that had a player are in Dismissed
	Amplified    // answers to unproven addresses that were withheld because they were too long: anything but 0 is a bug
	Unsent       // packages that could not be sealed
	Unbalanced   // ticks after which Received was not Accepted plus what was refused and dropped: anything but 0 is a bug
	Resyncs      // clients that lost their baselines and start anew
	Snapshots    // snapshots sent; with the next three, all that were due
	Throttled    // snapshots not sent because the client's bucket was empty: a later one tells what they would have
	Choked       // likewise because the client is not heard
	Starved      // likewise because the client acknowledges none of what would have to be sent in full
	LagSwitch    // times a client in play fell silent for so long that its shots look at the present until it answers again
	Faded        // rounds with somebody on their way whom their shooter saw last too long ago, judged at a later instant
	Unseen       // shots that would have hit somebody whom their shooter was not shown, and went on
	Diverged     // snapshots that a client decoded to other rows than were sent, by their checksum; each asks for a resync
	Squeezed     // snapshots that had no room for all rows there was anything to say of: those wait for a later one
	Narrowed     // snapshots in which the farthest rows were taken out of sight, as the line cannot carry so many
	ThingsWait   // snapshots that had no room for all there was to say of things
	Untold       // flights of all ticks for which the lobby had no slot: nobody is told of them
	Fetches      // models and arenas that clients asked for, as they lacked what the Welcome names
	FetchRefused // likewise a second time, or too late
	ContentBytes // UDP payload out with parts of them and of killcams, which is in BytesOut
	Killcams     // begun to be sent
	KillcamsTooLong
	Introduced // events with names
	Said       // lines for the chat
	Crowded    // lines to everybody refused because too many speak; other refusals are in Chat
	Heard      // lines queued for somebody, of players and of the server
	Unheard    // lines that somebody did not get, because its queue or its line is full
	Asked      // lines of guests for the console
	AskedVain  // those that it did not carry out
	IdleWarned // players
	IdleKicked // players, who are in Dismissed too
	Changes    // times the map was changed
	ChangesRefused
	Elsewhere      // Readies, requests and commands about a map that is not played any more, which were not taken
	Slept          // ticks not played, as nobody was here
	TurnedAway     // sessions for which there was no place of their kind
	SpectatorsShed // spectators sent away by overload, who are in Dismissed too
	WatchRefused   // spectators' wishes to look where they may not
	ReplaysCut     // recordings that ended before their round did, as they could not be written
	DashDropped    // frames of the live page that a reader had no room for
	DashKicked     // readers of it who took nothing for too long
	DashRefused    // requests for it that were refused
	NumCounts      // how many there are
)

var countNames = [NumCounts]string{"rx_datagrams", "rx_accepted", "rx_bytes", "tx_datagrams", "tx_bytes",
	"inputs_used", "inputs_missing", "input_dup", "input_stale", "input_future", "input_conflict", "input_clamped", "shots", "shots_clamped", "hits", "kills", "events_refused", "events_unknown",
	"joined", "left", "timed_out", "dismissed", "returned", "conn_takeover", "migrations_ok", "kick_flood",
	"assert_amplification", "unsent", "unbalanced_ticks", "resyncs",
	"snapshots", "snapshots_throttled", "snapshots_choked", "session_starved", "lagswitch_suspected",
	"shots_faded", "shot_unseen_entity", "snapshot_diverged", "snapshots_squeezed", "snapshots_narrowed", "things_squeezed", "things_untold",
	"content_fetched", "content_refused", "content_bytes", "killcams", "killcams_too_long",
	"roster_events", "chat_lines", "chat_crowded", "chat_heard", "chat_unheard", "console_lines", "console_refused", "idle_warned", "idle_kicked",
	"map_changes", "map_changes_refused", "of_old_map", "ticks_slept", "turned_away", "spectators_shed", "watch_refused",
	"replay_truncated", "dash_dropped", "dash_kicked_slow", "dash_refused"}

// String is the counter's name in reports.
func (c Count) String() string { return countNames[c] }

// Stats are a lobby's figures. They may be read from any goroutine. Native histograms count from the start, the others can be reset.
type Stats struct {
	Tick  *meter.Histogram   // CPU time of a tick, ns
	Stage []*meter.Histogram // likewise by stage, of one tick in 16
	Count [NumCounts]meter.Counter

	Rewind              *meter.Native   // by how much the views of rounds that hit lay behind the tick, ns: who is hit may have been in cover for so long
	Moved               *meter.Native   // by how much claimed views were moved, of shots whose view was, ns; at most two seconds
	TickCPU, TickWall   *meter.Native   // of a tick, CPU time and elapsed, ns
	StageCPU, StageWall []*meter.Native // likewise by stage, of the same ticks as Stage
	SnapshotBytes       *meter.Native   // UDP payload of a snapshot to one client
	RTT, RTTVar         *meter.Native   // of every client once a second: smoothed round trip and its mean deviation, ns
	InputBuffer         *meter.Native   // likewise: how far its commands are ahead of the match, ns
	Aim                 *meter.Native   // likewise: how little it aims as people do, of those who have hit anybody, thousandths; see sim/aim

	Rung    [NumSheds]meter.Counter         // frames on each rung of overload
	Refused [netcode.NumDrops]meter.Counter // datagrams in that the gate did not open, by reason
	Chat    [chat.NumRefusals]meter.Counter // lines for the chat that were refused, by reason
	Drops   [packet.NumDrops]meter.Counter  // packages in that were dropped, by reason
}

// fresh counts plainly what a tick does once for each guest: to add to a counter is atomic, and 500 times that of a tick would be seen in it.
type fresh struct {
	snapshots uint64
	inputs    sim.InboxCount
}

// count adds what is fresh to the counters.
func (l *Lobby) count() {
	n, c := &l.Stats.Count, &l.fresh.inputs
	n[Snapshots].Add(l.fresh.snapshots)
	n[InputsUsed].Add(c.Used)
	n[InputsMissing].Add(c.Missing)
	n[InputsDuplicate].Add(c.Duplicate)
	n[InputsStale].Add(c.Stale)
	n[InputsFuture].Add(c.Future)
	n[InputsConflict].Add(c.Conflict)
	n[InputsClamped].Add(c.Clamped)
	l.fresh = fresh{}
}

// audit checks the accounts after a tick: every datagram is in them once.
func (l *Lobby) audit() {
	s := &l.Stats
	sum := s.Count[Accepted].Load()
	for i := range s.Refused {
		sum += s.Refused[i].Load()
	}
	for i := range s.Drops {
		sum += s.Drops[i].Load()
	}
	if n := l.netcode.Counters().Amplification - s.Count[Amplified].Load(); n > 0 {
		s.Count[Amplified].Add(n)
	}
	if s.Count[Received].Load() != sum || !l.netcode.Counters().Balanced() {
		s.Count[Unbalanced].Inc()
	}
}

// tickHighest is the longest tick that the histograms tell apart: a second.
const tickHighest = int64(time.Second)

// init makes the histograms. Where no clock is given all that they get are zeros, and they need no room.
func (s *Stats) init(timed bool) {
	longest := tickHighest
	if !timed {
		longest = 2
	}
	s.Tick = meter.NewHistogram(longest)
	s.Rewind, s.Moved = meter.NewNative(1e-9, int64(2*time.Second)), meter.NewNative(1e-9, int64(2*time.Second))
	s.Stage = make([]*meter.Histogram, Stages)
	for i := range s.Stage {
		s.Stage[i] = meter.NewHistogram(longest)
	}
	s.TickCPU, s.TickWall = newNanos(), newNanos()
	for range Stages {
		s.StageCPU, s.StageWall = append(s.StageCPU, newNanos()), append(s.StageWall, newNanos())
	}
	s.SnapshotBytes, s.Aim = meter.NewNative(1, 1<<20), meter.NewNative(1e-3, 1000)
	s.RTT, s.RTTVar, s.InputBuffer = newNanos(), newNanos(), newNanos()
}

// newNanos is a histogram of nanoseconds that is told in seconds, up to a minute.
func newNanos() *meter.Native { return meter.NewNative(1e-9, 64*int64(time.Second)) }

// timeEvery is of how many ticks one has its stages timed, on average, and watchedEvery likewise while somebody looks at the live page:
// to ask the clocks and to record takes 6 % of a tick of 500 players, and more of a small one.
const (
	timeEvery    = 16
	watchedEvery = 4
)

// lap measures one tick: all of it, and where timed its stages.
type lap struct {
	cfg         *Config
	blind       bool // nothing is measured
	timed       bool // stages are
	begin, last time.Duration
	now         Stage
	stage       [24]time.Duration

	clock        func() time.Duration // nil: time elapsed is not kept
	from, before time.Duration        // by clock
	wall         [24]time.Duration
}

// timer says which ticks have their stages timed.
type timer struct {
	every  int
	left   int // ticks until the next
	random uint64
}

// due reports whether this tick is one.
func (n *timer) due() bool {
	if n.left--; n.left > 0 {
		return false
	}
	n.left = stride(&n.random, n.every)
	return true
}

// set changes how often.
func (n *timer) set(every int) {
	if n.every != every {
		n.every, n.left = every, 1
	}
}

func (l *Lobby) lap() lap {
	if l.unobserved {
		return lap{blind: true}
	}
	at := l.cfg.CPU()
	l.cfg.Enter(StageReceive)
	p := lap{cfg: &l.cfg, begin: at, last: at, clock: l.cfg.Clock, timed: l.timer.due()}
	if p.clock != nil {
		p.from = p.clock()
		p.before = p.from
	}
	return p
}

// enter tells profilers that a part of the snapshot's stage begins.
func (l *Lobby) enter(s Stage) {
	if !l.unobserved {
		l.cfg.Enter(s)
	}
}

// enter ends the stage that is running and begins stage s, which may have run before in this tick.
func (p *lap) enter(s Stage) {
	if p.blind {
		return
	}
	if p.timed {
		at := p.cfg.CPU()
		p.stage[p.now] += at - p.last
		if p.clock != nil {
			elapsed := p.clock()
			p.wall[p.now] += elapsed - p.before
			p.before = elapsed
		}
		p.last, p.now = at, s
	}
	p.cfg.Enter(s)
}

func (p *lap) done(s *Stats) {
	if p.blind {
		return
	}
	if p.enter(StageIdle); !p.timed {
		p.last = p.cfg.CPU()
	}
	s.Tick.Record(int64(p.last - p.begin))
	s.TickCPU.Record(int64(p.last - p.begin))
	if p.clock != nil {
		s.TickWall.Record(int64(p.clock() - p.from))
	}
	if !p.timed {
		return
	}
	for i := range s.Stage {
		s.Stage[i].Record(int64(p.stage[i]))
		s.StageCPU[i].Record(int64(p.stage[i]))
		if p.clock != nil {
			s.StageWall[i].Record(int64(p.wall[i]))
		}
	}
}

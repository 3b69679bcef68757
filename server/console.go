package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
)

// lobbyConsole is the console of a lobby: its variables, its commands, and the lines of connections
// that wait for it. Commands are about the whole lobby, so it has all of it.
type lobbyConsole struct {
	l       *Lobby
	console *console.Console
	now     time.Duration // of the line that runs
	pending []consoleLine
	limits  []lineLimit // by slot
	vars    consoleVars
}

// consoleLine is a line that a connection has sent.
type consoleLine struct {
	id   netid.ID
	text string
}

// lineLimit bounds how many lines one connection may send.
type lineLimit struct {
	bucket ratelimit.Bucket
	warned bool // told that it sends too many
}

// Bounds of what connections send to the console.
const (
	maxConsolePending = 64 // lines that wait for the end of a tick
	consolePerSecond  = 1
	consoleBurst      = 5
	maxConsoleReply   = 12 // lines of an answer
)

func newConsole(l *Lobby) lobbyConsole {
	c := lobbyConsole{
		l: l, console: console.New(l.cfg.Console),
		pending: make([]consoleLine, 0, maxConsolePending), limits: make([]lineLimit, l.cfg.Players),
	}
	for slot := range c.limits {
		c.disconnect(slot)
	}
	c.vars.add(c.console, &l.cfg)
	return c
}

// addCommands adds the commands. It is apart from newConsole as they keep a pointer to the lobby's
// own console.
func (s *lobbyConsole) addCommands() {
	for _, c := range []struct {
		needs       console.Rank
		name, usage string
		least, most int // arguments
		run         func(*console.Call) error
		help        string
	}{
		{console.Guest, "status", "", 0, 0, s.status,
			"show what is played, and for how long"},
		{console.Guest, "list", "", 0, 0, s.list,
			"list the players: id, name, team, kills, deaths, ping, seconds; moderators also see addresses"},
		{console.Moderator, "why", "CLIENT ENTITY", 2, 2, s.explain,
			"explain why a client is not sent a player, or an object such as barrel:3"},
		{console.Moderator, "kick", "NAME|ID", 1, 1, s.kick,
			"remove a player"},
		{console.Moderator, "mute", "NAME|ID [off]", 1, 2, s.mute,
			"mute a player until it reconnects; off ends that"},
		{console.Guest, "map", "[NAME|FILE [MODE]]", 0, 2, s.changeMap,
			"show the map; for admins: change it, and all clients load it"},
		{console.Guest, "mode", "[NAME]", 0, 1, s.changeMode,
			"show the mode; for admins: start anew in another"},
		{console.Moderator, "say", "TEXT", 1, console.MaxWords - 1, s.say,
			"send all players a line"},
	} {
		s.console.AddCommand(console.Command{
			Entry: console.Entry{Name: c.name, Help: c.help, Flags: console.Remote, Needs: c.needs},
			Usage: c.usage, MinArgs: c.least, MaxArgs: c.most, Run: c.run,
		})
	}
}

// Console is the lobby's console: for adding to it, and looking, between ticks. Lines go through
// Execute and StepConsole.
func (l *Lobby) Console() *console.Console { return l.console.console }

// Execute runs a line, as console.Console.Execute does, and puts into force what it has changed.
// Call it between ticks; a line that removes a player does so with the next tick.
func (l *Lobby) Execute(now time.Duration, out []string, line string, by console.Caller) ([]string, error) {
	c := &l.console
	c.now = now
	out, err := c.console.Execute(out, line, by)
	c.apply()
	return out, err
}

// StepConsole runs lines of files that wait, as console.Console.Step does. Call it once between two
// ticks.
func (l *Lobby) StepConsole(now time.Duration, out []string) []string {
	c := &l.console
	if c.console.Pending() == 0 {
		return out
	}
	c.now = now
	out = c.console.Step(out)
	c.apply()
	return out
}

// waits reports whether lines of connections or of files wait to run.
func (s *lobbyConsole) waits() bool { return len(s.pending) > 0 || s.console.Pending() > 0 }

// disconnect forgets what the connection of a slot has sent.
func (s *lobbyConsole) disconnect(slot int) {
	s.limits[slot] = lineLimit{bucket: ratelimit.NewBurst(consolePerSecond, consoleBurst)}
}

// submit takes a connection's line, to run at the start of the next tick. Lines of a connection
// that sends too many are refused; it is told so once.
func (s *lobbyConsole) submit(now time.Duration, c *conn, text []byte) {
	limit, stats := &s.limits[c.id.Index()], &s.l.Stats
	stats.Count[metrics.ConsoleLines].Inc()
	if !limit.bucket.Allow(now, 1) || len(s.pending) == maxConsolePending {
		stats.Count[metrics.ConsoleFailed].Inc()
		if !limit.warned {
			limit.warned = true
			s.reply(now, c, "too many lines: wait a few seconds")
		}
		return
	}
	limit.warned = false
	if len(text) > protocol.MaxLine {
		stats.Count[metrics.ConsoleFailed].Inc()
		s.reply(now, c, fmt.Sprintf("line too long: expected at most %d bytes", protocol.MaxLine))
		return
	}
	s.pending = append(s.pending, consoleLine{c.id, string(text)})
}

// run runs the lines of connections. They have the rank of conns, whatever name they send.
func (s *lobbyConsole) run(now time.Duration) {
	if len(s.pending) == 0 {
		return
	}
	l, lines := s.l, s.pending
	s.pending = nil // a line that adds another must not write into what is read here
	for _, line := range lines {
		slot := int32(line.id.Index())
		c := &l.conns[slot]
		if c.id != line.id || !l.roster.viewers[slot].ready {
			continue
		}
		caller := console.Caller{Name: l.roster.name(slot), Rank: console.Guest}
		out, err := l.Execute(now, nil, line.text, caller)
		if len(out) > maxConsoleReply {
			out = append(out[:maxConsoleReply-1], "...")
		}
		if err != nil {
			l.Stats.Count[metrics.ConsoleFailed].Inc()
			out = append(out, err.Error())
		}
		for _, text := range out {
			s.reply(now, c, text)
		}
	}
	s.pending = lines[:0]
}

// reply sends a connection a line of the console, cut to the length of a line.
func (s *lobbyConsole) reply(now time.Duration, c *conn, text string) {
	if len(text) > protocol.MaxLine {
		text = strings.ToValidUTF8(text[:protocol.MaxLine], "")
	}
	clean, _ := chat.Clean(nil, []byte(text))
	s.l.chat.tell(now, c, protocol.Chat{Kind: protocol.ChatAnswer, Text: clean})
}

// status is the command status.
func (s *lobbyConsole) status(call *console.Call) error {
	l := s.l
	cfg, score := &l.cfg, l.match.Mode().Score
	up := s.now / time.Second
	call.Say("%s: %s at %d Hz, up %d:%02d:%02d",
		s.vars.name.Text(), cfg.ArenaName, cfg.Rules.Rate, up/3600, up/60%60, up%60)
	spectators := 0
	for _, slot := range l.live {
		if l.conns[slot].roster.role == roleSpectator {
			spectators++
		}
	}
	call.Say("%d of %d players; points %d to %d", len(l.live)-spectators, cfg.playerSlots(), score[0], score[1])
	if cfg.Spectators > 0 {
		call.Say("%d of %d spectators", spectators, cfg.Spectators)
	}
	switch m := &l.maps; {
	case m.pending.poll != nil:
		call.Say("loading %s on %s", m.pending.spec.Mode, m.pending.spec.Map)
	case m.failure != "" && call.Caller.Rank >= console.Moderator:
		call.Say("the last change of the map failed: %s", m.failure)
	}
	return nil
}

// list is the command list.
func (s *lobbyConsole) list(call *console.Call) error {
	l := s.l
	for _, slot := range l.live {
		c := &l.conns[slot]
		v := l.match.Vital(c.id)
		if v == nil {
			continue
		}
		address := ""
		if call.Caller.Rank >= console.Moderator {
			address = fmt.Sprintf(" %v client %d", c.session.addr, c.roster.user)
		}
		call.Say("%d %s team %d %d/%d %d ms %d s%s",
			uint32(c.id), console.Quote(l.roster.name(slot)), v.Team, v.Kills, v.Deaths,
			c.session.peer.RTT().Smoothed.Milliseconds(), int((s.now-c.session.since)/time.Second), address)
	}
	return nil
}

// errNoPlayer is the error for a word that names no player.
var errNoPlayer = errors.New("expected the name, net id (8.1 or 2049), slot (slot:8) or client id " +
	"(client:77) of a player; see list")

// find returns the connection of the player that a word names, see Lobby.FindPlayer.
func (s *lobbyConsole) find(word string) (*conn, error) {
	id, err := s.l.FindPlayer(word)
	if err != nil {
		return nil, err
	}
	return &s.l.conns[id.Index()], nil
}

// kick is the command kick.
func (s *lobbyConsole) kick(call *console.Call) error {
	l, word := s.l, call.Args[0]
	c, err := s.find(word)
	if err != nil {
		return fmt.Errorf("kick %s: %w", console.Quote(word), err)
	}
	name := l.roster.name(int32(c.id.Index()))
	for i, slot := range l.reconnectable {
		if int(slot) == c.id.Index() {
			l.join.expireAt(i)
			call.Say("%s was disconnected, and is removed", name)
			return nil
		}
	}
	if !l.connected(c) || l.ofClient(int(c.session.client)) != c {
		return fmt.Errorf("kick %s: is leaving", console.Quote(word))
	}
	l.join.dismiss(s.now, c, packet.ReasonKicked)
	call.Say("kicked %s", name)
	return nil
}

// explain is the command why. Both the client and the player are given by name or id.
func (s *lobbyConsole) explain(call *console.Call) error {
	var ids [2]netid.ID
	for i, word := range call.Args {
		if r, err := ParseObjectRef(word); i == 1 && err == nil {
			v := s.l.ExplainObject(ids[0], r)
			call.Say("%s", v.Sentence())
			return nil
		}
		c, err := s.find(word)
		if err != nil {
			return fmt.Errorf("why %s: %w", console.Quote(word), err)
		}
		ids[i] = c.id
	}
	v := s.l.Explain(ids[0], ids[1])
	call.Say("%s", v.Sentence())
	return nil
}

// mute is the command mute.
func (s *lobbyConsole) mute(call *console.Call) error {
	word := call.Args[0]
	c, err := s.find(word)
	if err != nil {
		return fmt.Errorf("mute %s: %w", console.Quote(word), err)
	}
	mute := len(call.Args) == 1
	if !mute && call.Args[1] != "off" {
		return fmt.Errorf("mute %s: expected off or nothing behind the name", console.Quote(call.Args[1]))
	}
	p := &s.l.roster.players[c.id.Index()]
	if p.ID == 0 {
		return fmt.Errorf("mute %s: is disconnected", console.Quote(word))
	}
	p.Muted = mute
	return nil
}

// say is the command say: the words of the line, with one space between two.
func (s *lobbyConsole) say(call *console.Call) error {
	s.l.chat.announce(s.now, strings.Join(call.Args, " "))
	return nil
}

// changeMap is the command map. It answers at once; the map changes once it is loaded.
func (s *lobbyConsole) changeMap(call *console.Call) error {
	if len(call.Args) == 0 {
		call.Say("map %s", console.Quote(s.l.cfg.ArenaName))
		return nil
	}
	spec := MapSpec{Map: call.Args[0]}
	if len(call.Args) > 1 {
		spec.Mode = call.Args[1]
	}
	return s.change(call, spec)
}

// changeMode is the command mode, likewise.
func (s *lobbyConsole) changeMode(call *console.Call) error {
	if len(call.Args) == 0 {
		call.Say("mode %s", console.Quote(s.l.cfg.Rules.Game.Mode.Name))
		return nil
	}
	return s.change(call, MapSpec{Mode: call.Args[0]})
}

func (s *lobbyConsole) change(call *console.Call, spec MapSpec) error {
	if call.Caller.Rank < console.Admin {
		return fmt.Errorf("another map or mode: needs rank %v, yours is %v", console.Admin, call.Caller.Rank)
	}
	if err := s.l.ChangeMap(spec); err != nil {
		return err
	}
	spec = s.l.maps.pending.spec
	call.Say("loading %s on %s; see status", spec.Mode, spec.Map)
	return nil
}

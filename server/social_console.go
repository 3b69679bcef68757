package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/query"
	"github.com/tickrate/tickrate/sim"
)

// desk is a lobby's console, and the lines of connections that wait for it.
type desk struct {
	console *console.Console
	now     time.Duration // of the line that runs
	asked   []asked

	name               *console.Var
	respawn            *console.Var
	kbps               *console.Var
	idleWarn, idleKick *console.Var
	delayed            bool // respawn was changed
}

// asked is a connection's line.
type asked struct {
	id   netid.ID
	line string
}

// Bounds of what connections ask the console.
const (
	mostAsked     = 64 // lines that wait for the end of a tick
	questionBurst = 5
	questionEvery = time.Second
	mostAnswers   = 12 // lines of an answer
)

// Console is the lobby's console: for adding to it, and looking, between ticks. Lines go through Execute and StepConsole.
func (l *Lobby) Console() *console.Console { return l.social.desk.console }

// Execute runs a line, as console.Console.Execute does, and puts into force what it has changed. Call it between ticks; a line that
// sends somebody away does so with the next tick.
func (l *Lobby) Execute(now time.Duration, out []string, line string, who console.Caller) ([]string, error) {
	d := &l.social.desk
	d.now = now
	out, err := d.console.Execute(out, line, who)
	l.apply()
	return out, err
}

// StepConsole runs what waits of files, as console.Console.Step does. Call it once between two ticks.
func (l *Lobby) StepConsole(now time.Duration, out []string) []string {
	d := &l.social.desk
	if d.console.Pending() == 0 {
		return out
	}
	d.now = now
	out = d.console.Step(out)
	l.apply()
	return out
}

// ask notes a connection's line for the console; those of a connection who asks too much are refused, which it is told once.
func (l *Lobby) ask(now time.Duration, c *conn, line []byte) {
	d, seat := &l.social.desk, &l.social.seats[c.id.Index()]
	l.Stats.Count[metrics.ConsoleLines].Inc()
	if !seat.questions.admit(now, questionBurst, questionEvery) || len(d.asked) == mostAsked {
		l.Stats.Count[metrics.ConsoleFailed].Inc()
		if !seat.told {
			seat.told = true
			l.reply(now, c, "you ask too much: wait a few seconds")
		}
		return
	}
	seat.told = false
	if len(line) > protocol.MaxLine {
		l.Stats.Count[metrics.ConsoleFailed].Inc()
		l.reply(now, c, fmt.Sprintf("line too long: expected at most %d bytes", protocol.MaxLine))
		return
	}
	d.asked = append(d.asked, asked{c.id, string(line)})
}

// answer runs the lines of connections. They have the rank of connections, whoever they say they are.
func (l *Lobby) answer(now time.Duration) {
	d := &l.social.desk
	if len(d.asked) == 0 {
		return
	}
	waiting := d.asked
	d.asked = nil // a line that leads to another would otherwise write into what is read here
	for _, a := range waiting {
		c := &l.conns[a.id.Index()]
		if c.id != a.id || !l.social.seats[a.id.Index()].on {
			continue
		}
		out, err := l.Execute(now, nil, a.line, console.Caller{Name: l.called(int32(a.id.Index())), Rank: console.Guest})
		if len(out) > mostAnswers {
			out = append(out[:mostAnswers-1], "...")
		}
		if err != nil {
			l.Stats.Count[metrics.ConsoleFailed].Inc()
			out = append(out, err.Error())
		}
		for _, text := range out {
			l.reply(now, c, text)
		}
	}
	d.asked = waiting[:0]
}

// reply tells a connection a line of the console, as far as it fits into a line.
func (l *Lobby) reply(now time.Duration, c *conn, text string) {
	if len(text) > protocol.MaxLine {
		text = strings.ToValidUTF8(text[:protocol.MaxLine], "")
	}
	clean, _ := chat.Clean(nil, []byte(text))
	l.social.to = append(l.social.to[:0], int32(c.id.Index()))
	l.convey(now, protocol.Chat{Kind: protocol.ChatAnswer, To: uint32(c.id), Text: clean}, l.social.to)
}

// furnish makes the console.
func (l *Lobby) furnish() {
	d, c := &l.social.desk, &l.cfg
	d.console = console.New(c.Console)
	d.asked = make([]asked, 0, mostAsked)
	info, saved := console.ServerInfo|console.Remote, console.ServerInfo|console.Remote|console.Save
	rate := int64(c.Rules.Rate)
	millis := func(n int32) time.Duration { return time.Duration(n) * time.Millisecond }
	d.name = console.NewText(console.Entry{Name: "server.name", Help: "what server browsers show", Flags: saved}, c.Name, query.MaxText)
	d.respawn = console.NewDuration(console.Entry{Name: "game.respawndelay", Help: "time from a death to the next life", Flags: saved},
		millis(c.Rules.RespawnMillis), millis(c.Rules.RewindMillis), max(maxRespawn, millis(c.Rules.RespawnMillis)))
	d.kbps = console.NewInt(console.Entry{Name: "net.kbps", Help: "most kilobits a second to one client; 0 for no limit", Flags: saved}, int64(c.Kbps), 0, maxKbps)
	d.kbps.Check(func(word string) error {
		if n, _ := strconv.Atoi(word); n != 0 && n < sim.MinSnapshotKbps {
			return fmt.Errorf("0, or an integer, %d to %d", sim.MinSnapshotKbps, maxKbps)
		}
		return nil
	})
	d.idleWarn = console.NewDuration(console.Entry{Name: "game.idlewarn", Help: "after which an idle player is warned; 0s for never", Flags: saved}, c.IdleWarn, 0, maxIdle)
	d.idleKick = console.NewDuration(console.Entry{Name: "game.idlekick", Help: "after which an idle player is removed; 0s for never", Flags: saved}, c.IdleKick, 0, maxIdle)
	d.console.Add(d.name, d.respawn, d.kbps, d.idleWarn, d.idleKick,
		// What cannot be changed while the lobby runs has a range of one.
		console.NewInt(console.Entry{Name: "server.tickrate", Help: "ticks a second; given with --rate", Flags: info}, rate, rate, rate),
		console.NewInt(console.Entry{Name: "net.interval", Help: "ticks between two snapshots; given with --interval", Flags: info}, int64(c.Interval), int64(c.Interval), int64(c.Interval)))
	open := console.Entry{Flags: console.Remote, Needs: console.Guest}
	staff := console.Entry{Flags: console.Remote, Needs: console.Moderator}
	of := func(e console.Entry, name, help string) console.Entry {
		e.Name, e.Help = name, help
		return e
	}
	for _, cmd := range []console.Command{
		{Entry: of(open, "status", "tell what is played, and for how long"), Run: l.status},
		{Entry: of(open, "list", "list the players: id, name, team, kills, deaths, ping, seconds; for moderators also their addresses"), Run: l.list},
		{Entry: of(staff, "why", "tell why a client is not told of an entity, a player or a thing as barrel:3, if it is not"), Usage: "CLIENT ENTITY", Least: 2, Most: 2, Run: l.sayWhy},
		{Entry: of(staff, "kick", "remove a player"), Usage: "NAME|ID", Least: 1, Most: 1, Run: l.kick},
		{Entry: of(staff, "mute", "take a player's voice, until it comes anew; off gives it back"), Usage: "NAME|ID [off]", Least: 1, Most: 2, Run: l.mute},
		{Entry: of(open, "map", "tell the map; for admins: change it, and all clients load it"), Usage: "[NAME|FILE [MODE]]", Most: 2, Run: l.changeMap},
		{Entry: of(open, "mode", "tell the mode; for admins: begin anew in another"), Usage: "[NAME]", Most: 1, Run: l.changeMode},
		{Entry: of(staff, "say", "tell all players something"), Usage: "TEXT", Least: 1, Most: console.MaxWords - 1, Run: l.proclaim},
	} {
		d.console.AddCommand(cmd)
	}
}

// maxRespawn is the longest respawn delay that the console takes.
const maxRespawn = time.Minute

// apply puts the variables into force.
func (l *Lobby) apply() {
	d := &l.social.desk
	if d.respawn.Changed() || d.delayed { // a mode has a delay of its own, until somebody changes it
		d.delayed = true
		_ = l.match.SetRespawn(int32(d.respawn.Duration() / time.Millisecond)) // of another mode it may be none
	}
	l.patience(d.idleWarn.Duration(), d.idleKick.Duration())
	if kbps := int(d.kbps.Int()); kbps != l.cfg.Kbps {
		l.cfg.Kbps = kbps
		for _, slot := range l.live {
			c := &l.conns[slot]
			c.pace(c.repl.pacing.every, c.repl.pacing.requestedKbps, l)
		}
	}
}

func (l *Lobby) status(call *console.Call) error {
	c, score := &l.cfg, l.match.Mode().Score
	up := l.social.desk.now / time.Second
	call.Say("%s: %s at %d Hz, up %d:%02d:%02d", l.social.desk.name.Text(), c.ArenaName, c.Rules.Rate, up/3600, up/60%60, up%60)
	looking := 0
	for _, slot := range l.live {
		if l.conns[slot].roster.spectates {
			looking++
		}
	}
	call.Say("%d of %d players; points %d to %d", len(l.live)-looking, c.Players-c.Spectators, score[0], score[1])
	if c.Spectators > 0 {
		call.Say("%d of %d spectators", looking, c.Spectators)
	}
	switch v := &l.voyage; {
	case v.poll != nil:
		call.Say("on the way to %s on %s", v.to.Mode, v.to.Map)
	case v.refuse != "" && call.Who.Rank >= console.Moderator:
		call.Say("the last change of the map failed: %s", v.refuse)
	}
	return nil
}

func (l *Lobby) list(call *console.Call) error {
	for _, slot := range l.live {
		c := &l.conns[slot]
		v := l.match.Vital(c.id)
		if v == nil {
			continue
		}
		at := ""
		if call.Who.Rank >= console.Moderator {
			at = fmt.Sprintf(" %v client %d", c.session.addr, c.roster.user)
		}
		call.Say("%d %s team %d %d/%d %d ms %d s%s", uint32(c.id), console.Quote(l.called(slot)), v.Team, v.Kills, v.Deaths,
			c.session.peer.RTT().Smoothed.Milliseconds(), int((l.social.desk.now-c.session.since)/time.Second), at)
	}
	return nil
}

// errNobody is what is said of a name or id that nobody has.
var errNobody = errors.New("expected the name or id (8.1, or 2049) of somebody who is here; see list")

// whom finds the player with a name, whatever the case of its letters, or an id; also one who is away.
func (l *Lobby) whom(word string) (*conn, error) {
	slot, ok := l.social.names[fold(word)]
	if id, err := netid.Parse(word); !ok && err == nil {
		slot = int32(id.Index())
		ok = int(slot) < len(l.conns) && l.conns[slot].id == id && l.match.Vital(id) != nil
	}
	if !ok {
		return nil, errNobody
	}
	return &l.conns[slot], nil
}

func (l *Lobby) kick(call *console.Call) error {
	c, err := l.whom(call.Args[0])
	if err != nil {
		return fmt.Errorf("kick %s: %w", console.Quote(call.Args[0]), err)
	}
	name := l.called(int32(c.id.Index()))
	for i, slot := range l.away {
		if int(slot) == c.id.Index() {
			l.forsake(i)
			call.Say("%s was away, and does not come back", name)
			return nil
		}
	}
	if !l.connected(c) || l.slotOf[c.session.client] != int32(c.id.Index()) {
		return fmt.Errorf("kick %s: is leaving", console.Quote(call.Args[0]))
	}
	l.dismiss(l.social.desk.now, c, packet.ReasonKicked)
	call.Say("kicked %s", name)
	return nil
}

// sayWhy is why: both by name or id.
func (l *Lobby) sayWhy(call *console.Call) error {
	var ids [2]netid.ID
	for i, word := range call.Args {
		if r, err := ParseObjectRef(word); i == 1 && err == nil {
			v := l.ExplainObject(ids[0], r)
			call.Say("%s", v.Sentence())
			return nil
		}
		c, err := l.whom(word)
		if err != nil {
			return fmt.Errorf("why %s: %w", console.Quote(word), err)
		}
		ids[i] = c.id
	}
	v := l.Explain(ids[0], ids[1])
	call.Say("%s", v.Sentence())
	return nil
}

func (l *Lobby) mute(call *console.Call) error {
	c, err := l.whom(call.Args[0])
	if err != nil {
		return fmt.Errorf("mute %s: %w", console.Quote(call.Args[0]), err)
	}
	mute := len(call.Args) == 1
	if !mute && call.Args[1] != "off" {
		return fmt.Errorf("mute %s: expected off or nothing behind the name", console.Quote(call.Args[1]))
	}
	p := &l.social.table[c.id.Index()]
	if p.ID == 0 {
		return fmt.Errorf("mute %s: is away", console.Quote(call.Args[0]))
	}
	p.Muted = mute
	return nil
}

// proclaim is say: words of a line as they stand there.
func (l *Lobby) proclaim(call *console.Call) error {
	l.Announce(l.social.desk.now, strings.Join(call.Args, " "))
	return nil
}

// changeMap is map: it answers at once, and the map changes once it is read.
func (l *Lobby) changeMap(call *console.Call) error {
	if len(call.Args) == 0 {
		call.Say("map %s", console.Quote(l.cfg.ArenaName))
		return nil
	}
	c := Course{Map: call.Args[0]}
	if len(call.Args) > 1 {
		c.Mode = call.Args[1]
	}
	return l.depart(call, c)
}

// changeMode is mode, likewise.
func (l *Lobby) changeMode(call *console.Call) error {
	if len(call.Args) == 0 {
		call.Say("mode %s", console.Quote(l.cfg.Rules.Game.Mode.Name))
		return nil
	}
	return l.depart(call, Course{Mode: call.Args[0]})
}

func (l *Lobby) depart(call *console.Call, c Course) error {
	if call.Who.Rank < console.Admin {
		return fmt.Errorf("another map or mode: needs rank %v, yours is %v", console.Admin, call.Who.Rank)
	}
	if err := l.Travel(c); err != nil {
		return err
	}
	call.Say("loading %s on %s; status tells what becomes of it", l.voyage.to.Mode, l.voyage.to.Map)
	return nil
}

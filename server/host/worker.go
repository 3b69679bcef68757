package host

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host/capture"
	"github.com/tickrate/tickrate/server/metrics"
)

// worker plays lobbies on a thread of its own. All of it belongs to the goroutine of run; other
// goroutines reach it by requests, and read its stats.
type worker struct {
	host     *Host
	index    int
	sock     netio.Conn
	port     *server.Port // nil: there is one lobby alone, with a port of its own
	loop     loop
	requests requests
	inbox    chan arrival // lobbies that move here
	shares   shares

	capture   *capture.Thread // nil: nothing is captured
	speed     *speed          // nil: not measured
	departing []*hosted       // lobbies that are to end or to move
	backlog   backlog
	faulted   uint32 // value of background.faulted when it was last read
	figures   portFigures
}

// portFigures are the figures of a shared port, of datagrams that belong to no lobby.
type portFigures struct {
	stats   metrics.Stats
	timer   metrics.TickTimer
	logged  loggedCounts
	refused refusals
}

// openPort makes the port that the lobbies of the worker share. g has the sessions of the host.
func (w *worker) openPort(g netcode.ServerConfig) (err error) {
	h := w.host
	w.figures.stats.Histograms = metrics.NewHistograms(true)
	w.figures.timer = metrics.NewTickTimer(h.since, nil, w.markPort(h.labels.Of("port")))
	w.port, err = server.NewPort(server.PortConfig{Netcode: g, Host: h.making.host(),
		Stats: &w.figures.stats, Timer: &w.figures.timer, Clock: h.since,
		Steering: h.steering, Worker: w.index})
	return err
}

// run plays lobbies until the host stops, then disconnects their players.
func (w *worker) run(pacer *clock.Pacer) error {
	defer w.capture.Close()
	w.capture.Bind()
	made := w.loop.lobbies
	w.loop.lobbies = nil
	for _, x := range made {
		w.loop.insert(pacer.Now(), x)
		x.start()
	}
	if w.port == nil {
		w.loop.lobbies[0].labels.Rest()
	}
	err := w.play(pacer)
	w.host.stop() // after an error of one worker, all end
	w.host.playing.Done()
	w.host.playing.Wait() // then no lobby moves
	bye := w.close(pacer, w.loop.lobbies, err)
	for len(w.inbox) > 0 { // the port has room for their sessions now
		a := <-w.inbox
		if e := w.takeArrival(pacer.Now(), &a); e != nil {
			bye = errors.Join(bye, e)
			a.lobby.lobby.FinishRecording()
			continue
		}
		bye = errors.Join(bye, w.close(pacer, []*hosted{a.lobby}, err))
	}
	w.backlog.finish()
	return errors.Join(err, bye)
}

// close ends lobbies with the host: their live pages, their sessions and their recordings.
func (w *worker) close(pacer *clock.Pacer, lobbies []*hosted, ended error) error {
	for _, x := range lobbies {
		x.dash.Close()
	}
	err := w.disconnect(pacer, lobbies, ended)
	for _, x := range lobbies {
		x.lobby.FinishRecording()
	}
	return err
}

// collect gathers the turns of the lobbies that are due.
func (w *worker) collect(now time.Duration) {
	l := &w.loop
	l.turns = l.turns[:0]
	for i, due := range l.due {
		if due > now {
			continue
		}
		x := l.lobbies[i]
		if x.pace.frozen {
			l.due[i] = now + frozenWake
			continue
		}
		if x.pace.asleep {
			x.schedule.Begin(w.host.since())
			l.visit(now, i)
			continue
		}
		if l.due[i] = x.pace.window.next(now); l.due[i] > now {
			continue
		}
		steps, late, skipped := x.pace.ticks.Frame(now)
		x.schedule.Frame(x.pace.ticks.Period(), late, steps, skipped)
		w.host.logStall(x, late, skipped)
		x.schedule.Begin(w.host.since())
		l.due[i] = x.pace.ticks.Due()
		due := now - late - time.Duration(skipped)*x.pace.ticks.Period()
		l.turns = append(l.turns, turn{x, steps, late, due})
	}
}

// play plays the lobbies until the host stops, or an error.
func (w *worker) play(pacer *clock.Pacer) (err error) {
	l := &w.loop
	for now, second := pacer.Now(), pacer.Now()+time.Second; err == nil && !w.host.stopping.Load(); {
		due := max(l.next(now), pacer.Now())
		now = pacer.Until(due)
		l.woke = now - due
		wall := time.Now()
		w.takeArrivals(now)
		w.collect(now)
		err = w.playTurns(pacer, wall.Unix())
		if w.port != nil {
			l.sleep(now)
		}
		w.publish(now)
		if err == nil { // last: the worker must not touch a lobby that has moved
			err = w.seeOff(pacer.Now())
		}
		ended := pacer.Now()
		l.load.busy += ended - now
		l.load.spare.add(ended, ended-now, w.netcode())
		clear(l.turns[:cap(l.turns)]) // they keep no lobby that has ended
		clear(l.batch[:cap(l.batch)])
		if now >= second {
			l.measureShares(time.Second + now - second)
			w.shares.busy.Store(math.Float64bits(l.load.share))
			second = now + time.Second
			l.arrange()
			w.everySecond(wall)
			w.balance(pacer.Now())
		}
	}
	return err
}

// publish publishes the figures of the lobbies that have played, once a second each.
func (w *worker) publish(now time.Duration) {
	for _, t := range w.loop.turns {
		if now >= t.pace.second {
			t.pace.second += time.Second
			w.contained(now, t.hosted, func() { w.host.publish(now, t.hosted) })
		}
	}
}

// playTurns plays the turns of a phase, long ticks after the short ones of others. Lobbies that are
// behind play several rounds.
func (w *worker) playTurns(pacer *clock.Pacer, unix int64) error {
	l := &w.loop
	for first := true; !w.host.stopping.Load(); first = false {
		l.nextBatch()
		if len(l.batch) == 0 && (!first || w.port == nil) {
			return nil
		}
		began := pacer.Now()
		w.capture.BeginRound(l.woke)
		l.woke = 0
		w.speed.begin()
		if w.port == nil {
			err := w.playAlone(began, unix, l.batch[0].Ticks)
			l.batch[0].Took = pacer.Now() - began
			if err != nil {
				return err
			}
		} else if err := w.playShared(began, unix); err != nil {
			return err
		}
		w.capture.EndRound()
		ended := pacer.Now()
		w.speed.end(ended, l)
		w.measure(began, ended)
	}
	return nil
}

// playShared plays the lobbies of the batch.
func (w *worker) playShared(now time.Duration, unix int64) error {
	w.runRequests(now)
	w.loop.dropFrozen()
	err := w.port.Ticks(now, unix, w.sock, w.loop.batch)
	w.wakeAll(now, w.port.Woken())
	w.endFaulty()
	w.backlog.flush()
	w.endFaultyBehind(now)
	return err
}

// playAlone plays n ticks of the lobby of a host that has one. A panic in a tick, or in work that it
// left for the background, ends the lobby and the host.
func (w *worker) playAlone(now time.Duration, unix int64, n int) (err error) {
	x := w.loop.lobbies[0]
	defer func() {
		if fault := recover(); fault != nil {
			w.host.logFault(x, fault, debug.Stack())
			err = errFault
		}
	}()
	w.runRequests(now)
	err = x.lobby.Ticks(now, unix, w.sock, n)
	w.backlog.flush()
	if f := x.fault.Swap(nil); f != nil {
		w.host.logFault(x, f.value, f.stack)
		err = errFault
	}
	return err
}

// endFaulty ends the lobbies that have panicked.
func (w *worker) endFaulty() {
	for _, fault := range w.port.TakeFaults() {
		if x := w.find(fault.Lobby.ID()); x != nil {
			w.host.logFault(x, fault.Value, fault.Stack)
			w.drop(x)
		}
	}
}

// endFaultyBehind ends the lobbies whose work in the background has panicked.
func (w *worker) endFaultyBehind(now time.Duration) {
	n := w.host.encoder.faulted.Load()
	if n == w.faulted {
		return
	}
	w.faulted = n
	for _, x := range w.loop.lobbies {
		if f := x.fault.Swap(nil); f != nil {
			w.host.logFault(x, f.value, f.stack)
			w.port.Remove(now, x.lobby, packet.ReasonFault)
			w.drop(x)
		}
	}
}

// measure takes the times of the batch that was played from began to ended.
func (w *worker) measure(began, ended time.Duration) {
	l := &w.loop
	behind := ended // when the lobby in hand had ended
	for _, b := range l.batch {
		behind -= b.Took
	}
	for i, b := range l.batch {
		t := l.played(i)
		behind += b.Took
		w.captureTicks(t, &b, began, behind)
		took, period := b.Took/time.Duration(b.Ticks), t.pace.ticks.Period()
		t.schedule.Took(took)
		if took > period {
			t.schedule.Overruns.Inc()
		}
		w.contained(began, t.hosted, func() {
			t.dash.Tick(began, t.late, took)
			if level, changed := t.pace.load.Tick(took, l.slice(t.hosted, took)); changed {
				w.host.setLevel(t.hosted, level)
			}
		})
	}
}

// contained runs f, which does something with a lobby outside its ticks. A panic of f ends the lobby,
// as one of its tick does. ok is false if the lobby has ended.
func (w *worker) contained(now time.Duration, x *hosted, f func()) (ok bool) {
	if w.port == nil {
		f()
		return true
	}
	if x.over() {
		return false
	}
	if ok = w.port.Do(now, x.lobby, f); !ok {
		w.endFaulty()
	}
	return ok
}

// depart makes a lobby that plays here end or move, as its pace says, between ticks.
func (w *worker) depart(x *hosted) {
	if !slices.Contains(w.departing, x) {
		w.departing = append(w.departing, x)
	}
}

// seeOff ends the lobbies that are to end and moves those that are to move. It runs between ticks.
func (w *worker) seeOff(now time.Duration) (err error) {
	departing := w.departing
	w.departing = nil
	for _, x := range departing {
		switch {
		case err != nil || !w.plays(x):
		case x.pace.leaving != 0:
			err = w.end(now, x)
		default:
			w.move(now, x, x.pace.to)
		}
	}
	return err
}

// end ends a lobby once its players are told: some of them at a time, since the buffer of the socket
// is small.
func (w *worker) end(now time.Duration, x *hosted) (err error) {
	var more bool
	if !w.port.Do(now, x.lobby, func() { more, err = x.lobby.CloseSome(now, w.sock, x.pace.leaving) }) {
		w.endFaulty()
		return nil
	}
	if more || err != nil {
		w.depart(x)
		return err
	}
	w.port.Remove(now, x.lobby, x.pace.leaving)
	w.host.log.Info("lobby ended", "lobby", x.name())
	w.drop(x)
	return nil
}

// add makes a lobby play beside the others.
func (w *worker) add(now time.Duration, x *hosted) {
	h := w.host
	w.port.Add(x.lobby)
	w.loop.insert(now, x)
	h.publishList(func(list []*hosted) []*hosted { return append(list, x) })
	x.start()
	h.log.Info("lobby made", "lobby", x.name())
	w.with(now, x, func() {
		if x.lobby.Awaits() { // what the files of lines set is in the state that it waits for
			return
		}
		if err := h.execFiles(now, x); err != nil {
			h.log.Error("a file of console lines failed", "lobby", x.name(), "err", err)
		}
		x.publishStatus()
		h.publishScore(now, x)
	})
}

// drop forgets a lobby that the port has forgotten.
func (w *worker) drop(x *hosted) {
	w.loop.remove(x)
	w.host.publishList(func(list []*hosted) []*hosted {
		return slices.DeleteFunc(list, func(other *hosted) bool { return other == x })
	})
	w.host.finish(x)
	w.backlog.flush()
}

// find returns a lobby of the worker by its ID, nil if there is none.
func (w *worker) find(id uint32) *hosted {
	for _, x := range w.loop.lobbies {
		if x.id() == id {
			return x
		}
	}
	return nil
}

// netcode is the netcode server of the worker's socket.
func (w *worker) netcode() *netcode.Server {
	if w.port != nil {
		return w.port.Netcode()
	}
	return w.loop.lobbies[0].lobby.Netcode()
}

// everySecond logs refused datagrams once a second. Worker 0 checks the wall clock and flushes the
// log, too.
func (w *worker) everySecond(wall time.Time) {
	h, at := w.host, w.host.since()
	w.figures.refused.log(h.log, at, w.netcode().Counters())
	if w.port != nil {
		w.figures.logged.log(h.log, at, &w.figures.stats)
		w.loop.relay = h.relays(w)
	}
	if w.index == 0 {
		h.watchWallClock(at, h.wallDrift(wall))
		h.log.flush(at, flushDue)
	}
}

// disconnect tells every player of some lobbies that these end, some at a time: the buffer of the socket is
// small. After a fault of a lobby this may fault too.
func (w *worker) disconnect(pacer *clock.Pacer, lobbies []*hosted, ended error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("not every player was told: %v", fault)
		}
	}()
	reason := packet.ReasonClosing
	if errors.Is(ended, errFault) {
		reason = packet.ReasonFault
	}
	told := w.sock.Stats().DatagramsOut
	for _, x := range lobbies {
		for more := true; more && err == nil; {
			more, err = x.lobby.CloseSome(pacer.Now(), w.sock, reason)
			if n := w.sock.Stats().DatagramsOut; more || n-told > closeBurst {
				told = n
				pacer.Until(pacer.Now() + time.Millisecond)
			}
		}
	}
	return err
}

// closeBurst is the number of datagrams after which disconnect pauses: the buffer of a socket takes
// twice as many.
const closeBurst = 500

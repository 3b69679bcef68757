package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// Tick plays one tick: it is Ticks with n = 1.
func (l *Lobby) Tick(now time.Duration, unix int64, sock netio.Conn) error {
	return l.Ticks(now, unix, sock, 1)
}

// Ticks joins the stages of the data path (docs/circle.svg); the comment after each call names
// its arrow. Datagrams that have arrived on sock become commands, commands move the match by n
// ticks, the match becomes history and a frame of rows, the frame is delta-coded against what each
// client has acked, and leaves in datagrams. With n above 1 the server catches up: datagrams are
// read once, before the first tick, and only the last tick is sent as a snapshot, to every client
// that was due one in any of the n. n is at most MaxInterval, the longest snapshot interval, which
// frames and acks cover. unix is the wall clock in seconds; only connect tokens are compared with
// it. Errors are those of sock.
//
// To follow the code:
//
//	in:  Port.receive, openBatch, takePayload, takePacket, takeCommands, sim.CommandBuffer
//	out: replication.capture, outbound.send, writeSnapshot, appendSnapshot, sendPackets
func (l *Lobby) Ticks(now time.Duration, unix int64, sock netio.Conn, n int) error {
	p := l.port
	if p.alone != l {
		panic("server: Ticks of a lobby on a shared port: expected Port.Ticks")
	}
	checkTicks(n)
	l.timer.Begin()
	p.update(now, unix)
	l.inbound.prepare(now)
	errIn := p.receive(now, unix, sock) // socket -> packet -> command
	p.traffic.flush(p.stats)
	return errors.Join(errIn, l.advance(now, sock, n))
}

// checkTicks panics unless a lobby can play n ticks at once.
func checkTicks(n int) {
	if n < 1 || n > MaxInterval {
		panic(fmt.Sprintf("server: %d ticks at once: expected 1 to %d", n, MaxInterval))
	}
}

// advance plays n ticks with the commands that have arrived, and sends what is due. It ends the
// tick that the timer has begun.
func (l *Lobby) advance(now time.Duration, sock netio.Conn, n int) error {
	if l.join.awaiting.on {
		l.outbound.sendAwaited(now, &l.join.awaiting)
		l.endTick()
		return nil
	}
	if l.cfg.SleepWhenEmpty && l.join.empty() {
		l.Stats.Count[metrics.TicksSlept].Inc()
		l.endTick()
		return nil
	}
	for l.replication.batchTicks = 1; ; l.replication.batchTicks++ {
		l.play(now)                           // command -> sim -> history
		l.replication.capture(n, len(l.live)) // history -> snapshot
		if l.replication.batchTicks == n {
			break
		}
		l.timer.Enter(metrics.StageSnapshot)
		l.outbound.queueEvents(now)
		l.outbound.round.send(now, l.chat.room)
	}
	l.replication.begin()             // snapshot -> delta
	err := l.outbound.send(now, sock) // delta -> compress -> packet -> socket
	l.endTick()
	l.replication.batchTicks = 1
	return err
}

// play runs the systems of the match for one tick, and times each.
func (l *Lobby) play(now time.Duration) {
	l.match.Wake()
	oldest := l.match.History().Oldest()
	for i, slot := range l.live {
		if len(l.live) > maxTogether {
			l.prefetchClampLimits(i)
		}
		l.rewind.updateClampLimits(now, &l.conns[slot], oldest)
	}
	l.match.Begin()
	for i := range sim.Systems() {
		l.timer.Enter(metrics.StageSystems + metrics.Stage(i))
		l.match.Run(i)
	}
	l.timer.Enter(metrics.StageCapture)
	l.match.End()
	l.rewind.aim.Tick(l.match)
	l.idle.noteHits()
	l.flight.tick()
	l.recording.tick()
	l.flight.arm()
	l.leaving = 0
	l.spectate.update()
}

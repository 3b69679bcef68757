//go:build !portable

package netio

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

const (
	// drainRounds bounds one drain, so that a flood cannot keep the loop from hearing that it shall stop.
	drainRounds = 64

	// idleTime is how long a drainer looks in vain before it gives the socket back to gnet's poller. It is longer
	// than the gap between two datagrams of a single player at 20 Hz.
	idleTime = 60 * time.Millisecond

	// A trickle of fewer than few datagrams a drain may gather for longer, up to slowest times the moderation; many shorten it again. The
	// owner reads what it needs from the socket itself, so the loop only keeps the socket's buffer from overflowing, and each wake-up of its
	// thread takes the processor from whoever else runs there.
	fewDatagrams, manyDatagrams = 16, 64
	maxSlowdown                 = 4

	// fullPause is the least time to wait for the owner to make room.
	fullPause = 500 * time.Microsecond
)

// drainer is what gnet calls. gnet reads one datagram a wake-up and allocates five times for it; the drainer takes
// that one, then reads all others from the same socket with recvmmsg, lets new ones gather for a moment, and goes on
// until none has come for idleTime. So under traffic gnet's own path is not walked at all.
//
// Between drains the socket is anybody's who takes turn: the owner, having emptied the ring, reads what has gathered since
// (see gnetConn.Receive), so a datagram waits for the owner only, never for the loop.
//
// When the ring is full it stops reading, and waits for the owner: the socket's buffer holds more for less, and what
// that has no room for costs a flooded server the least if it never leaves the kernel.
type drainer struct {
	gnet.BuiltinEventEngine
	booted    chan booted
	ring      *ring
	in        *mmsg
	scrap     [1]slot // where gnet's datagram goes if the ring has no room for it
	count     *counters
	filter    func([]byte) bool
	pause     time.Duration // negative: give the socket back after each drain
	slowdown  time.Duration // as often as that pause, 1 to slowest
	closing   atomic.Bool
	holder    atomic.Int32 // whose the socket is
	ownerRead atomic.Bool  // the owner has read datagrams from the socket
}

// Values of turn. The owner may read only while the loop stays in its callback: before that, gnet holds a datagram that
// must come first.
const (
	heldByGnet   = iota // gnet polls the socket, or has just read from it
	heldByNobody        // the loop sleeps
	heldByLoop          // the loop reads
	heldByOwner         // the owner reads
)

// booted is what the engine's start has brought to light.
type booted struct {
	engine gnet.Engine
	fd     int
	err    error
}

func newDrainer(cfg Config, count *counters) *drainer {
	d := &drainer{
		booted:   make(chan booted, 1),
		ring:     newRing(cfg.RingDatagrams),
		in:       newMmsg(unix.AF_UNSPEC),
		count:    count,
		filter:   cfg.Filter,
		pause:    cfg.Moderation,
		slowdown: 1,
	}
	d.scrap[0].buf = new(slotBuffer)
	return d
}

// OnBoot is called before any datagram is read.
func (d *drainer) OnBoot(engine gnet.Engine) gnet.Action {
	fd, err := listeningFd(engine)
	d.booted <- booted{engine, fd, err}
	if err != nil {
		return gnet.Shutdown
	}
	return gnet.None
}

// OnShutdown is called before the engine closes its socket, whoever stopped it.
func (d *drainer) OnShutdown(gnet.Engine) { d.closing.Store(true) }

// OnTraffic is called when the socket is readable and gnet has read one datagram from it.
func (d *drainer) OnTraffic(c gnet.Conn) gnet.Action {
	d.count.wakes.Inc()
	data, _ := c.Next(-1)
	d.takeFirst(data, c.RemoteAddr())
	d.holder.Store(heldByLoop)
	for idle := time.Duration(0); !d.closing.Load(); {
		n, full := d.drain(c.Fd())
		switch {
		case full: // gnet's poller would call again at once, to no purpose
			idle = 0
			d.sleep(max(d.pause, fullPause))
			continue
		case n > 0 || d.ownerRead.Swap(false):
			idle = 0
		default:
			idle += d.pause * d.slowdown
		}
		if d.pause < 0 || idle > idleTime+d.pause*d.slowdown {
			break // a readable socket calls again at once
		}
		d.moderate(n)
		d.sleep(d.pause * d.slowdown)
	}
	d.holder.Store(heldByGnet)
	return gnet.None
}

// moderate chooses how long datagrams may gather, after a drain of n.
func (d *drainer) moderate(n int) {
	switch {
	case n < fewDatagrams:
		d.slowdown = min(2*d.slowdown, maxSlowdown)
	case n > manyDatagrams:
		d.slowdown = max(d.slowdown/2, 1)
	}
}

// sleep lets go of the socket for a while.
func (d *drainer) sleep(pause time.Duration) {
	d.holder.Store(heldByNobody)
	for time.Sleep(pause); !d.holder.CompareAndSwap(heldByNobody, heldByLoop); time.Sleep(pause) {
	}
}

// takeFirst takes the datagram that gnet has read into a buffer of its own.
func (d *drainer) takeFirst(data []byte, from net.Addr) {
	free := d.ring.run()
	full := len(free) == 0
	if full { // only if the loop was called although the ring is full: not while it waits for the owner
		free = d.scrap[:]
	}
	free[0].n = int32(len(data))
	copy(free[0].buf[:], data)
	if u, ok := from.(*net.UDPAddr); ok {
		free[0].addr = numericZone(canonical(u.AddrPort()))
	}
	kept := d.count.received(free[:1], d.filter)
	if full {
		d.count.ringFull.Add(uint64(kept))
	} else {
		d.ring.publish(kept)
	}
}

// drain empties the socket, for as long as the ring has room, and returns how many datagrams that were and whether the
// ring is full.
func (d *drainer) drain(fd int) (total int, full bool) {
	for range drainRounds {
		free := d.ring.run()
		if len(free) == 0 {
			return total, true
		}
		n, _ := d.in.recv(fd, free) // an error is the socket's end, which gnet will notice
		d.count.receives.Inc()
		if n > 0 {
			d.ring.publish(d.count.received(free[:n], d.filter))
		}
		total += n
		if n < len(free) {
			break
		}
	}
	return total, false
}

// numericZone writes the zone of a link-local address as a number, as getSockaddr does: a peer has one address.
func numericZone(a netip.AddrPort) netip.AddrPort {
	zone := a.Addr().Zone()
	if zone == "" {
		return a
	}
	if ifi, err := net.InterfaceByName(zone); err == nil {
		return netip.AddrPortFrom(a.Addr().WithZone(strconv.Itoa(ifi.Index)), a.Port())
	}
	return a
}

// listeningFd finds the descriptor of the engine's only socket, which gnet tells nobody before the first datagram.
// Sending through a duplicate would do, but one that is open when the engine stops keeps the port bound and swallows
// half of the next server's datagrams. So the duplicate serves to recognise the original by its inode, and is closed.
func listeningFd(engine gnet.Engine) (int, error) {
	dup, err := engine.Dup()
	if err != nil {
		return -1, err
	}
	defer unix.Close(dup)
	var want, have unix.Stat_t
	if err := unix.Fstat(dup, &want); err != nil {
		return -1, os.NewSyscallError("fstat", err)
	}
	for fd := range 1 << 20 {
		if fd != dup && unix.Fstat(fd, &have) == nil && have.Ino == want.Ino && have.Dev == want.Dev {
			return fd, nil
		}
	}
	return -1, fmt.Errorf("gnet's socket has no descriptor beside its duplicate %d", dup)
}

// silence is a gnet logger: a library does not write to its user's terminal. What matters comes back as an error.
type silence struct{}

func (silence) Debugf(string, ...any) {}
func (silence) Infof(string, ...any)  {}
func (silence) Warnf(string, ...any)  {}
func (silence) Errorf(string, ...any) {}
func (silence) Fatalf(string, ...any) {}

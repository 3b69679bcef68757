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
	// drainRounds bounds one drain, so that a flood does not delay a shutdown.
	drainRounds = 64

	// idleTime is how long a drainer finds nothing before it returns the socket to gnet's poller.
	// It is longer than the gap between two datagrams of a single player at 20 Hz.
	idleTime = 60 * time.Millisecond

	// Fewer than fewDatagrams per drain lengthen the pause up to maxSlowdown times; more than
	// manyDatagrams shorten it. The owner reads what it needs from the socket itself, so the loop
	// only keeps the socket's buffer from overflowing, and each wake-up of its thread takes a
	// processor from other work.
	fewDatagrams, manyDatagrams = 16, 64
	maxSlowdown                 = 4

	// fullPause is the least time to wait for the owner to make room.
	fullPause = 500 * time.Microsecond
)

// drainer handles gnet's callbacks. gnet reads one datagram per wake-up and allocates five times
// for it; the drainer takes that one, reads all others from the same socket with recvmmsg, pauses
// for a moment, and goes on until none has come for idleTime. So under traffic gnet's own path is
// not used.
//
// Between drains the owner may take the socket (holder): when the ring is empty it reads new
// datagrams itself, see gnetConn.Receive. A datagram waits for the owner only, never for the
// loop.
//
// When the ring is full, the drainer stops reading and waits for the owner. The socket's buffer
// holds more for less memory, and a flood costs the least if it never leaves the kernel.
type drainer struct {
	gnet.BuiltinEventEngine
	booted    chan booted
	ring      *ring
	in        *mmsg
	scrap     [1]slot // takes gnet's datagram if the ring is full
	count     *counters
	filter    func([]byte) bool
	pause     time.Duration // negative: return the socket after each drain
	slowdown  time.Duration // factor of pause, 1 to maxSlowdown
	closing   atomic.Bool
	holder    atomic.Int32 // who may read the socket: a value below
	ownerRead atomic.Bool  // the owner has read datagrams from the socket
}

const (
	// Values of holder. The owner may read only while the loop is in its callback: before that,
	// gnet holds a datagram that must come first.
	heldByGnet   = iota // gnet polls the socket, or has just read from it
	heldByNobody        // the loop sleeps
	heldByLoop          // the loop reads
	heldByOwner         // the owner reads
)

// booted is the result of the engine's start.
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

// OnShutdown is called before the engine closes its socket.
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
		case full: // gnet's poller would call again at once
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

// moderate chooses the length of the next pause, after a drain of n datagrams.
func (d *drainer) moderate(n int) {
	switch {
	case n < fewDatagrams:
		d.slowdown = min(2*d.slowdown, maxSlowdown)
	case n > manyDatagrams:
		d.slowdown = max(d.slowdown/2, 1)
	}
}

// sleep releases the socket for a pause and takes it again.
func (d *drainer) sleep(pause time.Duration) {
	d.holder.Store(heldByNobody)
	for time.Sleep(pause); !d.holder.CompareAndSwap(heldByNobody, heldByLoop); time.Sleep(pause) {
	}
}

// takeFirst copies the datagram that gnet has read into the ring.
func (d *drainer) takeFirst(data []byte, from net.Addr) {
	free := d.ring.run()
	full := len(free) == 0
	if full { // the loop was called although the ring is full
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

// drain empties the socket as long as the ring has room. It returns the number of datagrams and
// whether the ring is full.
func (d *drainer) drain(fd int) (total int, full bool) {
	for range drainRounds {
		free := d.ring.run()
		if len(free) == 0 {
			return total, true
		}
		n, _ := d.in.recv(fd, free) // gnet notices an error of the socket
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

// numericZone writes the zone of a link-local address as a number, as getSockaddr does, so that a
// peer has one address.
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

// listeningFd finds the descriptor of the engine's socket, which gnet does not expose before the
// first datagram. A duplicate that is open when the engine stops keeps the port bound and takes
// half of the next server's datagrams. So the duplicate only identifies the original by its
// inode, and is closed.
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

// silence is a gnet logger that discards everything: a library does not write to the terminal,
// and errors come back as values.
type silence struct{}

func (silence) Debugf(string, ...any) {}
func (silence) Infof(string, ...any)  {}
func (silence) Warnf(string, ...any)  {}
func (silence) Errorf(string, ...any) {}
func (silence) Fatalf(string, ...any) {}

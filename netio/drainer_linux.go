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
)

// drainer is what gnet calls. gnet reads one datagram a wake-up and allocates five times for it; the drainer takes
// that one, then reads all others from the same socket with recvmmsg, lets new ones gather for a moment, and goes on
// until none has come for idleTime. So under traffic gnet's own path is not walked at all.
type drainer struct {
	gnet.BuiltinEventEngine
	booted  chan booted
	ring    *ring
	in      *mmsg
	scrap   [BatchSize]slot // where datagrams go that the ring has no room for; all in one buffer
	count   *counters
	pause   time.Duration // negative: give the socket back after each drain
	idle    int           // empty drains before the socket is given back
	closing atomic.Bool
}

// booted is what the engine's start has brought to light.
type booted struct {
	engine gnet.Engine
	fd     int
	err    error
}

func newDrainer(cfg Config, count *counters) *drainer {
	d := &drainer{
		booted: make(chan booted, 1),
		ring:   newRing(cfg.RingDatagrams),
		in:     newMmsg(unix.AF_UNSPEC),
		count:  count,
		pause:  cfg.Moderation,
		idle:   int(idleTime/max(cfg.Moderation, 1)) + 1,
	}
	waste := new(packet)
	for i := range d.scrap {
		d.scrap[i].buf = waste
	}
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
	d.first(data, c.RemoteAddr())
	for idle := 0; !d.closing.Load(); {
		if d.drain(c.Fd()) > 0 {
			idle = 0
		} else {
			idle++
		}
		if d.pause < 0 || idle > d.idle {
			break // a readable socket calls again at once
		}
		time.Sleep(d.pause)
	}
	return gnet.None
}

// first takes the datagram that gnet has read into a buffer of its own.
func (d *drainer) first(data []byte, from net.Addr) {
	free := d.ring.run()
	full := len(free) == 0
	if full {
		free = d.scrap[:1]
	}
	free[0].n = int32(len(data))
	copy(free[0].buf[:], data)
	if u, ok := from.(*net.UDPAddr); ok {
		free[0].addr = numericZone(short(u.AddrPort()))
	}
	d.settle(free[:1], full)
}

// drain empties the socket and returns how many datagrams that were.
func (d *drainer) drain(fd int) (total int) {
	for range drainRounds {
		free := d.ring.run()
		full := len(free) == 0
		if full {
			free = d.scrap[:]
		}
		n, _ := d.in.recv(fd, free) // an error is the socket's end, which gnet will notice
		d.count.receives.Inc()
		if n > 0 {
			d.settle(free[:n], full)
		}
		total += n
		if n < len(free) {
			break
		}
	}
	return total
}

// settle counts what has arrived and shows it to the owner, or drops it if the ring was full.
func (d *drainer) settle(slots []slot, full bool) {
	d.count.arrived(slots)
	if !full {
		d.ring.publish(len(slots))
		return
	}
	for i := range slots {
		if slots[i].n != hole {
			d.count.ringFull.Inc()
		}
	}
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

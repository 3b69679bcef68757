package floor

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Version is the version of the loop. Figures of two versions say nothing about each other.
const Version = 1

// ErrSystem is the error of Measure where the system has no recvmmsg.
var ErrSystem = errors.New("the floor is measured on Linux only")

// Traffic is the datagrams of one turn. Counts are means and need not be whole.
type Traffic struct {
	In  float64 // datagrams from clients, more than 0
	Out float64 // datagrams to clients, more than 0
	// Mean UDP payload of a datagram, 20 to 1232 bytes; 20 are header and tag.
	BytesIn, BytesOut float64
	Clients           int     // addresses, 1 to 65536; they take turns
	Run               float64 // datagrams in a row to one address, 1 to 48
}

// Sizes of a datagram: netcode's prefix, three bytes of sequence, body, tag.
const (
	headerBytes = 4
	tagBytes    = 16
	maxBytes    = 1232
	maxClients  = 1 << 16
	maxRun      = 48
)

// check refuses traffic that the loop cannot play.
func (t Traffic) check() error {
	for _, c := range []struct {
		name           string
		is, from, upTo float64
	}{
		{"datagrams in", t.In, 1e-3, 1e6}, {"datagrams out", t.Out, 1e-3, 1e6},
		{"bytes in", t.BytesIn, headerBytes + tagBytes, maxBytes},
		{"bytes out", t.BytesOut, headerBytes + tagBytes, maxBytes},
		{"clients", float64(t.Clients), 1, maxClients}, {"datagrams in a row", t.Run, 1, maxRun},
	} {
		if !(c.is >= c.from && c.is <= c.upTo) {
			return fmt.Errorf("traffic of the floor: expected %g to %g %s, got %g", c.from, c.upTo, c.name, c.is)
		}
	}
	return nil
}

// part is t in a part of a turn.
func (t Traffic) part(bursts int) Traffic {
	t.In, t.Out = t.In/float64(bursts), t.Out/float64(bursts)
	return t
}

// Config says where and for how long the loop runs.
type Config struct {
	Server  []int         // processors of the thread that is counted; nil: any
	Samples int           // measurements, 1 or more
	Time    time.Duration // elapsed time of a sample; one more of half that length warms up
}

// Cost is the CPU time of a turn by part, in nanoseconds.
type Cost struct{ Receive, Open, Seal, Send float64 }

// Total is the CPU time of the turn.
func (c Cost) Total() float64 { return c.Receive + c.Open + c.Seal + c.Send }

// times is c in another unit.
func (c Cost) times(by float64) Cost {
	return Cost{c.Receive * by, c.Open * by, c.Seal * by, c.Send * by}
}

// add adds o to c.
func (c *Cost) add(o Cost) {
	c.Receive, c.Open, c.Seal, c.Send = c.Receive+o.Receive, c.Open+o.Open, c.Seal+o.Seal, c.Send+o.Send
}

// Median is the sample whose total is the median (the lower one of two), and the least and the largest
// total. Of six samples these two hold the true median 31 times of 32, whatever the distribution.
func Median(samples []Cost) (median Cost, least, most float64) {
	s := slices.Clone(samples)
	slices.SortFunc(s, func(a, b Cost) int {
		switch {
		case a.Total() < b.Total():
			return -1
		case a.Total() > b.Total():
			return 1
		}
		return 0
	})
	return s[(len(s)-1)/2], s[0].Total(), s[len(s)-1].Total()
}

// spread turns a mean into whole numbers that add up to it.
type spread struct{ mean, owed float64 }

// next is the next number.
func (s *spread) next() int {
	s.owed += s.mean
	n := int(s.owed)
	s.owed -= float64(n)
	return n
}

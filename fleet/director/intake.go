package director

import (
	"cmp"
	"errors"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/internal/meter"
)

const (
	lease    = 3500 * time.Millisecond // of an announcement, from its arrival
	maxHosts = 10_000                  // of a director
	memory   = 2 * time.Minute         // for which a silent host's sequence is remembered
)

// refusals are the reasons to refuse an announcement, by the names that counters have.
var refusals = []struct {
	name string
	err  error
}{
	{"size", announce.ErrSize}, {"foreign", announce.ErrForeign}, {"key", announce.ErrKey},
	{"subject", announce.ErrSubject}, {"replayed", announce.ErrReplayed}, {"clock", announce.ErrClock},
	{"figures", announce.ErrFigures}, {"hosts", announce.ErrHosts},
}

// newest is the last announcement of a host.
type newest struct {
	boot     int64
	sequence uint64
	at       time.Time
}

// intake checks announcements. It opens no connection and reads no clock.
type intake struct {
	key     announce.Key
	last    map[string]newest
	taken   meter.Counter
	refused []meter.Counter // by refusals
}

func newIntake(key announce.Key) *intake {
	return &intake{key: key, last: map[string]newest{}, refused: make([]meter.Counter, len(refusals))}
}

// open returns the announcement that a message holds, or why it is refused.
func (i *intake) open(subject string, raw []byte, now time.Time) (*announce.Host, error) {
	h, err := i.check(subject, raw, now)
	if err == nil {
		i.taken.Inc()
		return h, nil
	}
	for n := range refusals {
		if errors.Is(err, refusals[n].err) {
			i.refused[n].Inc()
			break
		}
	}
	return nil, err
}

func (i *intake) check(subject string, raw []byte, now time.Time) (*announce.Host, error) {
	h, err := i.key.Open(subject, raw)
	if err != nil {
		return nil, err
	}
	if err := h.Check(now); err != nil {
		return nil, err
	}
	last, known := i.last[h.Name]
	if !known && len(i.last) >= maxHosts {
		return nil, announce.ErrHosts
	}
	if known && cmp.Or(cmp.Compare(h.Boot, last.boot), cmp.Compare(h.Sequence, last.sequence)) <= 0 {
		return nil, announce.ErrReplayed
	}
	i.last[h.Name] = newest{h.Boot, h.Sequence, now}
	return h, nil
}

// forget drops what is known of hosts that have been silent for long: their messages are too old by
// the sender's clock by now.
func (i *intake) forget(now time.Time) {
	for name, last := range i.last {
		if now.Sub(last.at) > memory {
			delete(i.last, name)
		}
	}
}

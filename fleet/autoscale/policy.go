// Package autoscale says how many hosts a fleet needs. What a host carries, how many hosts there are
// and how many players they have go in, with the time; a number of hosts comes out. Command fleet
// autoscale uses it as the webhook of a FleetAutoscaler of Agones.
package autoscale

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Config describes a Policy. Zero fields mean the defaults named.
type Config struct {
	// Players that a host carries at the service level, from its plan; required.
	PerHost int
	Fill    float64       // share of PerHost to load a host to, above 0 to 1; default 1
	StartUp time.Duration // from a decision to a host that takes players; default 2 minutes
	Window  time.Duration // of the trend; default 10 minutes
	Hold    time.Duration // for which the largest answer stays; default 10 minutes
	Spare   int           // hosts beside those needed, for one that is lost; default 1, negative: none
	Least   int           // hosts; default 1
	Most    int           // hosts; default 1000
}

// withDefaults returns c with its defaults filled in, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	c.Fill = cmp.Or(c.Fill, 1)
	c.StartUp = cmp.Or(c.StartUp, 2*time.Minute)
	c.Window, c.Hold = cmp.Or(c.Window, 10*time.Minute), cmp.Or(c.Hold, 10*time.Minute)
	c.Spare, c.Least, c.Most = max(0, cmp.Or(c.Spare, 1)), cmp.Or(c.Least, 1), cmp.Or(c.Most, 1000)
	switch {
	case c.PerHost < 1:
		return c, fmt.Errorf("%d players a host: expected 1 or more", c.PerHost)
	case !(c.Fill > 0 && c.Fill <= 1):
		return c, fmt.Errorf("load of a host %g: expected above 0, at most 1", c.Fill)
	case c.StartUp < 0 || c.Window < 0 || c.Hold < 0:
		return c, errors.New("a time below zero")
	case c.Least < 0 || c.Most < c.Least:
		return c, fmt.Errorf("%d to %d hosts: expected least before most", c.Least, c.Most)
	}
	return c, nil
}

// Fleet is how many hosts there are, as Agones counts them.
type Fleet struct {
	Replicas  int `json:"replicas"` // in any state, those that start included
	Ready     int `json:"readyReplicas"`
	Reserved  int `json:"reservedReplicas"`
	Allocated int `json:"allocatedReplicas"`
}

// Check reports a number that cannot be.
func (f *Fleet) Check() error {
	if least := min(f.Replicas, f.Ready, f.Reserved, f.Allocated); least < 0 {
		return fmt.Errorf("%d replicas: expected 0 or more", least)
	}
	return nil
}

// Report is what the hosts of a fleet have said of themselves.
type Report struct {
	Hosts   int     // that have said anything
	Players int     // with a session or a promised place
	Busy    float64 // sum over the hosts of the share that the busiest worker of each took
	// Players that have come in the last minute; 0 where hosts do not say. A rise shows before the
	// number of players does.
	Arrivals int
}

// Policy is the state of a decision. It has no clock; one goroutine may use it.
type Policy struct {
	cfg     Config
	seen    []sample // within the window, oldest first
	answers []answer // within the hold, falling
}

// sample is the number of players at a time.
type sample struct {
	at       time.Duration
	players  float64
	arrivals float64 // a second
}

// answer is a number of hosts that was decided.
type answer struct {
	at    time.Duration
	hosts int
}

// New returns a policy that has seen nothing.
func New(cfg Config) (*Policy, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg}, nil
}

// lie is how many times the players that all hosts carry a report may have.
const lie = 10

// check refuses figures that cannot be. They change nothing.
func (p *Policy) check(r *Report) error {
	switch {
	case r.Hosts < 0 || r.Players < 0 || r.Arrivals < 0:
		return fmt.Errorf("%d hosts, %d players, %d a minute: expected 0 or more", r.Hosts, r.Players, r.Arrivals)
	case math.IsNaN(r.Busy) || r.Busy < 0 || r.Busy > float64(r.Hosts):
		return fmt.Errorf("%g processors busy: expected 0 to %d, one a host", r.Busy, r.Hosts)
	case r.Players > lie*p.cfg.PerHost*max(1, r.Hosts):
		return fmt.Errorf("%d players on %d hosts of %d each", r.Players, r.Hosts, p.cfg.PerHost)
	case r.Arrivals > lie*p.cfg.PerHost*max(1, r.Hosts):
		return fmt.Errorf("%d players a minute on %d hosts of %d each", r.Arrivals, r.Hosts, p.cfg.PerHost)
	}
	return nil
}

// Hosts returns how many hosts the fleet needs at a time. With a nil report, or one that cannot be,
// it answers as many as there are: a fleet that nobody sees is not made smaller. err says why a report
// was refused. The answer is valid with an error, too.
func (p *Policy) Hosts(now time.Duration, f Fleet, r *Report) (hosts int, err error) {
	if r != nil {
		err = p.check(r)
	}
	if r == nil || err != nil {
		return p.bound(f.Replicas, &f), err
	}
	p.seen = slices.DeleteFunc(p.seen, func(s sample) bool { return now-s.at > p.cfg.Window || s.at >= now })
	p.seen = append(p.seen, sample{now, float64(r.Players), float64(r.Arrivals) / 60})
	need := p.forecast(now + p.cfg.StartUp)
	const rounding = 1e-6 // of the sums above, in hosts
	hosts = int(math.Ceil(need/(p.perHost(r)*p.cfg.Fill)-rounding)) + p.cfg.Spare
	return p.bound(p.held(now, hosts), &f), nil
}

// perHost is how many players a host carries: as the plan says, or fewer if the hosts are busier than
// that. Below three tenths of a processor a host, their share says little.
func (p *Policy) perHost(r *Report) float64 {
	planned := float64(p.cfg.PerHost)
	if r.Busy < 0.3*float64(r.Hosts) || r.Players == 0 {
		return planned
	}
	return min(planned, float64(r.Players)/r.Busy)
}

// forecast is the number of players at a time soon: the line through the samples, twice their
// deviation from it, and what comes beyond that line. A fleet that empties is not forecast.
func (p *Policy) forecast(at time.Duration) float64 {
	last, n := p.seen[len(p.seen)-1], float64(len(p.seen))
	var meanT, meanY, tt, ty float64
	for _, s := range p.seen {
		meanT += s.at.Seconds() / n
		meanY += s.players / n
	}
	for _, s := range p.seen {
		t := s.at.Seconds() - meanT
		tt += t * t
		ty += t * (s.players - meanY)
	}
	slope := 0.0
	if tt > 0 {
		slope = ty / tt
	}
	deviation := 0.0
	for _, s := range p.seen {
		off := s.players - meanY - slope*(s.at.Seconds()-meanT)
		deviation += off * off / n
	}
	return last.players + max(0, slope+p.surge())*(at-last.at).Seconds() + 2*math.Sqrt(deviation)
}

// surge is by how many players a second more come now than on average, as far as that is more than twice
// their deviation. The players that leave are those of the average, so it adds to the trend.
func (p *Policy) surge() float64 {
	last, n := p.seen[len(p.seen)-1], float64(len(p.seen))
	mean, deviation := 0.0, 0.0
	for _, s := range p.seen {
		mean += s.arrivals / n
	}
	for _, s := range p.seen {
		deviation += (s.arrivals - mean) * (s.arrivals - mean) / n
	}
	return max(0, last.arrivals-mean-2*math.Sqrt(deviation))
}

// held is the largest answer of the last Hold.
func (p *Policy) held(now time.Duration, hosts int) int {
	p.answers = slices.DeleteFunc(p.answers, func(a answer) bool {
		return now-a.at > p.cfg.Hold || a.hosts <= hosts
	})
	p.answers = append(p.answers, answer{now, hosts})
	return p.answers[0].hosts
}

// bound keeps an answer within the limits, and never below the hosts that have players.
func (p *Policy) bound(hosts int, f *Fleet) int {
	return max(min(max(hosts, p.cfg.Least), p.cfg.Most), f.Allocated+f.Reserved)
}

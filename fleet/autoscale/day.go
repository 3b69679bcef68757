package autoscale

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Day describes a simulated day of a fleet. All of it is in virtual time. Zero fields mean the defaults
// named.
type Day struct {
	Seed      uint64
	Peak      int  // players in the evening; default 20,000
	Party     int  // players of a match; default 10
	KeepHosts bool // else the fullest host is lost with its matches at half past eight in the evening
}

// Outcome is what a day cost and how its players fared.
type Outcome struct {
	HostHours float64
	Matches   int
	Players   int             // of all matches
	Waited    int             // players who found no place at once
	Waits     []time.Duration // of those, one a match, ascending
	MostHosts int
}

// Wait is a quantile, 0 to 1, of the waits of those who waited; 0 if nobody did.
func (o *Outcome) Wait(q float64) time.Duration {
	if len(o.Waits) == 0 {
		return 0
	}
	return o.Waits[min(len(o.Waits)-1, int(q*float64(len(o.Waits))))]
}

// Scaler decides how many hosts a fleet needs.
type Scaler func(now time.Duration, f Fleet, r *Report) int

// Buffer is the policy Buffer of Agones: as many hosts without players as size says, beside those with
// players; as a share of all hosts if it is below 1.
func Buffer(size float64) Scaler {
	return func(_ time.Duration, f Fleet, _ *Report) int {
		if size >= 1 {
			return f.Allocated + int(size)
		}
		return max(f.Allocated+1, int(math.Ceil(float64(f.Allocated)/(1-size))))
	}
}

const (
	askEvery  = 30 * time.Second // as Agones asks a webhook and its own policies
	leastBoot = 60 * time.Second // of a host until it takes players
	mostBoot  = 120 * time.Second
	leastPlay = 6 * time.Minute // of a match
	mostPlay  = 14 * time.Minute
	lostAt    = 20*time.Hour + 30*time.Minute
	spikeAt   = 15 * time.Hour
	spikeEnd  = 16 * time.Hour
)

// load is the share of the peak that would like to play at a time of the day: a low in the morning, the
// peak at nine in the evening, and a tournament whose players come within five minutes.
func load(at time.Duration) float64 {
	day := at.Hours() / 24
	x := 0.45 - 0.4*math.Cos(2*math.Pi*(day-0.375-0.5)) // highest at 21:00
	x = 0.12 + 0.88*x*x/(0.85*0.85)
	if at >= spikeAt && at < spikeEnd {
		x += 0.35 * min(1, (at-spikeAt).Minutes()/5)
	}
	return x
}

// host is one host of a simulated fleet.
type host struct {
	ready   time.Duration // when it takes players
	matches int
	gone    bool
}

// match is a match that plays on a host.
type match struct {
	end time.Duration
	on  *host
}

// matches is a heap of matches by their end.
type matches []match

func (m matches) Len() int           { return len(m) }
func (m matches) Less(i, j int) bool { return m[i].end < m[j].end }
func (m matches) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *matches) Push(x any)        { *m = append(*m, x.(match)) }
func (m *matches) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	*m = (*m)[:last]
	return x
}

// dayRun is a day as it runs.
type dayRun struct {
	Day
	perHost int // matches
	random  *rand.Rand
	hosts   []*host
	playing matches
	waiting []time.Duration // since when, by match
	seated  []time.Duration // matches of the last minute
	out     Outcome
}

// Run plays a day with hosts that carry perHost players each. The same arguments give the same
// outcome.
func (d Day) Run(perHost int, scale Scaler) Outcome {
	if d.Peak == 0 {
		d.Peak = 20_000
	}
	if d.Party == 0 {
		d.Party = 10
	}
	r := &dayRun{Day: d, perHost: max(1, perHost/d.Party), random: rand.New(rand.NewPCG(d.Seed, 27))}
	meanPlay := (leastPlay + mostPlay).Seconds() / 2
	for range int(load(0)*float64(d.Peak)/float64(perHost)) + 2 {
		r.hosts = append(r.hosts, &host{})
	}
	// The day before: matches that play at midnight.
	for range int(load(0) * float64(d.Peak) / float64(d.Party)) {
		r.place(time.Duration(r.random.Float64()*meanPlay*float64(time.Second)), 0)
	}
	r.waiting, r.out = r.waiting[:0], Outcome{}
	for now := time.Duration(0); now < 24*time.Hour; now += time.Second {
		r.endMatches(now)
		if now == lostAt && !d.KeepHosts {
			r.lose(now)
		}
		for n := r.poisson(load(now) * float64(d.Peak) / float64(d.Party) / meanPlay); n > 0; n-- {
			r.out.Matches++
			r.waiting = append(r.waiting, now)
		}
		r.seat(now)
		if now%askEvery == 0 {
			r.scale(now, scale)
		}
		r.out.HostHours += float64(len(r.hosts)) / 3600
		r.out.MostHosts = max(r.out.MostHosts, len(r.hosts))
	}
	r.out.Players = r.out.Matches * d.Party
	slices.Sort(r.out.Waits)
	return r.out
}

// poisson draws a number with a small mean.
func (r *dayRun) poisson(mean float64) (n int) {
	for p, limit := r.random.Float64(), math.Exp(-mean); p > limit; n++ {
		p *= r.random.Float64()
	}
	return n
}

// place begins a match on the fullest host with room; ok is false if there is none.
func (r *dayRun) place(end, now time.Duration) (ok bool) {
	var best *host
	for _, h := range r.hosts {
		if h.ready <= now && h.matches < r.perHost && (best == nil || h.matches > best.matches) {
			best = h
		}
	}
	if best == nil {
		return false
	}
	best.matches++
	heap.Push(&r.playing, match{end, best})
	return true
}

// seat begins the matches that wait, in their order.
func (r *dayRun) seat(now time.Duration) {
	for len(r.waiting) > 0 {
		took := leastPlay + time.Duration(r.random.Int64N(int64(mostPlay-leastPlay)))
		if !r.place(now+took, now) {
			return
		}
		r.seated = append(r.seated, now)
		if waited := now - r.waiting[0]; waited > 0 {
			r.out.Waited += r.Party
			r.out.Waits = append(r.out.Waits, waited)
		}
		r.waiting = r.waiting[1:]
	}
}

func (r *dayRun) endMatches(now time.Duration) {
	for len(r.playing) > 0 && r.playing[0].end <= now {
		heap.Pop(&r.playing).(match).on.matches--
	}
}

// lose takes the fullest host; its matches begin again.
func (r *dayRun) lose(now time.Duration) {
	full := slices.MaxFunc(r.hosts, func(a, b *host) int { return a.matches - b.matches })
	full.gone = true
	r.hosts = slices.DeleteFunc(r.hosts, func(h *host) bool { return h.gone })
	r.playing = slices.DeleteFunc(r.playing, func(m match) bool {
		if m.on.gone {
			r.waiting = append(r.waiting, now)
		}
		return m.on.gone
	})
	heap.Init(&r.playing)
}

// scale asks for the number of hosts. New ones take players after a while; only hosts without matches
// end, the newest first.
func (r *dayRun) scale(now time.Duration, scale Scaler) {
	f, report := Fleet{Replicas: len(r.hosts)}, Report{}
	for _, h := range r.hosts {
		switch {
		case h.matches > 0:
			f.Allocated++
			fallthrough
		case h.ready <= now:
			report.Hosts++
			report.Players += h.matches * r.Party
			report.Busy += 0.6 * float64(h.matches) / float64(r.perHost) // as a plan found it at its knee
		}
		if h.matches == 0 && h.ready <= now {
			f.Ready++
		}
	}
	r.seated = slices.DeleteFunc(r.seated, func(at time.Duration) bool { return now-at > time.Minute })
	report.Arrivals = len(r.seated) * r.Party
	want := scale(now, f, &report)
	for len(r.hosts) < want {
		boot := leastBoot + time.Duration(r.random.Int64N(int64(mostBoot-leastBoot)))
		r.hosts = append(r.hosts, &host{ready: now + boot})
	}
	for i := len(r.hosts) - 1; i >= 0 && len(r.hosts) > want; i-- {
		if r.hosts[i].matches == 0 {
			r.hosts = slices.Delete(r.hosts, i, i+1)
		}
	}
}

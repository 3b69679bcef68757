package impair

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parameter is the text form of one field of a Profile. Exactly one of the four accessors is set.
type parameter struct {
	name  string
	float func(*Profile) *float64
	time  func(*Profile) *time.Duration
	rate  func(*Profile) *int // bytes a second
	bytes func(*Profile) *int
	max   float64 // in the field's unit; 0: 1, or a minute
	needs string  // the parameter without which this one has no effect
}

// parameters are all fields, in the order in which a Profile prints.
var parameters = []parameter{
	{name: "loss", float: func(p *Profile) *float64 { return &p.Loss }},
	{name: "burst", float: func(p *Profile) *float64 { return &p.Burst }},
	{name: "burst-length", float: func(p *Profile) *float64 { return &p.BurstLength }, max: 1e6,
		needs: "burst"},
	{name: "burst-loss", float: func(p *Profile) *float64 { return &p.BurstLoss }, needs: "burst"},
	{name: "burst-max", time: func(p *Profile) *time.Duration { return &p.BurstMax }, needs: "burst"},
	{name: "delay", time: func(p *Profile) *time.Duration { return &p.Delay }},
	{name: "jitter", time: func(p *Profile) *time.Duration { return &p.Jitter }},
	{name: "duplicate", float: func(p *Profile) *float64 { return &p.Duplicate }},
	{name: "reorder", float: func(p *Profile) *float64 { return &p.Reorder }},
	{name: "reorder-by", time: func(p *Profile) *time.Duration { return &p.ReorderBy }},
	{name: "corrupt", float: func(p *Profile) *float64 { return &p.Corrupt }},
	{name: "corrupt-bytes", float: func(p *Profile) *float64 { return &p.CorruptBytes }},
	{name: "truncate", float: func(p *Profile) *float64 { return &p.Truncate }},
	{name: "rate", rate: func(p *Profile) *int { return &p.Rate }, max: 1e10},
	{name: "queue", bytes: func(p *Profile) *int { return &p.Queue }, max: 1 << 30, needs: "rate"},
	{name: "blackhole", time: func(p *Profile) *time.Duration { return &p.Blackhole }},
	{name: "blackhole-every", time: func(p *Profile) *time.Duration { return &p.BlackholeEvery },
		max: float64(time.Hour), needs: "blackhole"},
	{name: "rebind", time: func(p *Profile) *time.Duration { return &p.Rebind }, max: float64(time.Hour)},
}

// findParameter returns the parameter with a name, nil if there is none. "dup" is short for
// "duplicate".
func findParameter(name string) *parameter {
	if name == "dup" {
		name = "duplicate"
	}
	for i := range parameters {
		if parameters[i].name == name {
			return &parameters[i]
		}
	}
	return nil
}

// isMean reports whether the parameter is a number of datagrams rather than a share.
func (k *parameter) isMean() bool { return k.float != nil && k.max > 0 }

// zero reports whether the field is unset.
func (k *parameter) zero(p *Profile) bool {
	switch {
	case k.float != nil:
		return *k.float(p) == 0
	case k.time != nil:
		return *k.time(p) == 0
	case k.rate != nil:
		return *k.rate(p) == 0
	}
	return *k.bytes(p) == 0
}

// check returns an error if the field is out of range. The comparisons refuse NaN.
func (k *parameter) check(p *Profile) error {
	switch {
	case k.needs != "" && !k.zero(p) && findParameter(k.needs).zero(p):
		return fmt.Errorf("%s does nothing without %s", k.name, k.needs)
	case k.isMean():
		if v := *k.float(p); v != 0 && !(v >= 1 && v <= k.max) {
			return fmt.Errorf("%s is %v, want a mean of 1 to %g datagrams", k.name, v, k.max)
		}
	case k.float != nil:
		if v := *k.float(p); !(v >= 0 && v <= 1) {
			return fmt.Errorf("%s is %v, want a share from 0 to 1", k.name, v)
		}
	case k.time != nil:
		most := time.Minute
		if k.max > 0 {
			most = time.Duration(k.max)
		}
		if v := *k.time(p); v < 0 || v > most {
			return fmt.Errorf("%s is %v, want 0 to %v", k.name, v, most)
		}
	case k.rate != nil:
		if v := *k.rate(p); v != 0 && (v < minRate || v > int(k.max)) {
			return fmt.Errorf("%s is %s, want %s to %s", k.name, formatRate(v), formatRate(minRate),
				formatRate(int(k.max)))
		}
	default:
		if v := *k.bytes(p); v < 0 || v > int(k.max) {
			return fmt.Errorf("%s is %d bytes, want 0 to %g", k.name, v, k.max)
		}
	}
	return nil
}

// parse sets the field from text.
func (k *parameter) parse(p *Profile, text string) (err error) {
	switch {
	case k.isMean():
		if *k.float(p), err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("%s=%q: want a number of datagrams, such as 10", k.name, text)
		}
	case k.float != nil:
		number, percent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("%s=%q: want a share, such as 5%% or 0.05", k.name, text)
		}
		if percent {
			v /= 100
		} else if v > 1 {
			return fmt.Errorf("%s=%q: want a share from 0 to 1, or did you mean %s%%?", k.name, text, number)
		}
		*k.float(p) = v
	case k.time != nil:
		if *k.time(p), err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%s=%q: want a time with its unit, such as 40ms or 10s", k.name, text)
		}
	case k.rate != nil:
		if *k.rate(p), err = parseRate(text); err != nil {
			return fmt.Errorf("%s=%q: want bits a second with their unit, such as 512kbit or 1.5Mbit, or bytes, "+
				"such as 64kB", k.name, text)
		}
	default:
		if *k.bytes(p), err = parseBytes(text); err != nil {
			return fmt.Errorf("%s=%q: want bytes with their unit, such as 1500B, 64kB or 1.5MB", k.name, text)
		}
	}
	return nil
}

// format returns the text that parse reads.
func (k *parameter) format(p *Profile) string {
	switch {
	case k.isMean():
		return strconv.FormatFloat(*k.float(p), 'g', -1, 64)
	case k.float != nil:
		v := *k.float(p)
		percent := strconv.FormatFloat(v*100, 'g', 12, 64)
		if back, err := strconv.ParseFloat(percent, 64); err == nil && back/100 == v {
			return percent + "%"
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case k.time != nil:
		return k.time(p).String()
	}
	if k.rate != nil {
		return formatRate(*k.rate(p))
	}
	return formatBytes(*k.bytes(p))
}

package impair

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Check returns an error if a field of the profile is out of range.
func (p Profile) Check() error {
	for i := range parameters {
		if err := parameters[i].check(&p); err != nil {
			return fmt.Errorf("impair: %w", err)
		}
	}
	if err := p.checkTogether(); err != nil {
		return fmt.Errorf("impair: %w", err)
	}
	return nil
}

// checkTogether checks the limits that concern several fields.
func (p Profile) checkTogether() error {
	full := p.withDefaults()
	switch {
	case p.Corrupt+p.CorruptBytes+p.Truncate > 1:
		return fmt.Errorf("corrupt, corrupt-bytes and truncate are %v together, want at most 1",
			p.Corrupt+p.CorruptBytes+p.Truncate)
	case p.Rate > 0 && p.Queue/p.Rate >= 60:
		return fmt.Errorf("queue holds %d s at this rate, want less than a minute", p.Queue/p.Rate)
	case p.Blackhole > full.BlackholeEvery:
		return fmt.Errorf("blackhole is %v of every %v", p.Blackhole, full.BlackholeEvery)
	case p.Rebind != 0 && p.Rebind < 10*time.Millisecond:
		return fmt.Errorf("rebind is %v, want 10ms at least", p.Rebind)
	}
	return nil
}

// String returns the profile in the form that ParseProfile reads: "clean", or
// "loss=5%,delay=40ms".
func (p Profile) String() string {
	var parts []string
	for i := range parameters {
		if k := &parameters[i]; !k.zero(&p) {
			parts = append(parts, k.name+"="+k.format(&p))
		}
	}
	if len(parts) == 0 {
		return "clean"
	}
	return strings.Join(parts, ",")
}

// ParseProfile reads a profile: a name of Presets, settings such as
// "loss=5%,delay=40ms,jitter=10ms", or a name and settings that change it, "mobile,loss=10%". The
// fields of Profile name the settings. The result passes Check.
func ParseProfile(text string) (Profile, error) {
	p, err := parseProfile(text)
	if err != nil {
		return Profile{}, fmt.Errorf("impair: profile %q: %w", text, err)
	}
	return p, nil
}

// parseProfile is ParseProfile without the package's name in errors.
func parseProfile(text string) (p Profile, err error) {
	if text == "" {
		return p, errors.New("empty; " + presetNames())
	}
	seen := map[*parameter]bool{}
	for i, part := range strings.Split(text, ",") {
		name, value, setting := strings.Cut(strings.TrimSpace(part), "=")
		if !setting {
			if p, err = presetOf(name); err != nil {
				return p, err
			}
			if i > 0 {
				return p, fmt.Errorf("%s must come first, settings after it", name)
			}
			continue
		}
		k := findParameter(name)
		switch {
		case k == nil:
			return p, fmt.Errorf("no setting is named %q; there are %s", name, parameterNames())
		case seen[k]:
			return p, fmt.Errorf("%s is set twice", k.name)
		}
		seen[k] = true
		if err := k.parse(&p, value); err != nil {
			return p, err
		}
	}
	if err := p.Check(); err != nil {
		return p, errors.Unwrap(err) // ParseProfile adds the package's name
	}
	return p, nil
}

// presetOf returns the profile of a preset.
func presetOf(name string) (Profile, error) {
	for _, n := range Presets() {
		if n.Name == name {
			return n.Profile, nil
		}
	}
	return Profile{}, fmt.Errorf("nothing is named %q; %s", name, presetNames())
}

// presetNames says in an error what a profile may be.
func presetNames() string {
	var names []string
	for _, n := range Presets() {
		names = append(names, n.Name)
	}
	return "want " + strings.Join(names, ", ") + ", or settings such as loss=5%,delay=40ms,jitter=10ms"
}

// parameterNames lists the settings for an error.
func parameterNames() string {
	var names []string
	for i := range parameters {
		names = append(names, parameters[i].name)
	}
	return strings.Join(names, ", ")
}

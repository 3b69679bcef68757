package dst

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Case is one run of a deterministic simulation test (dst). String gives the flags that reproduce
// the run.
type Case struct {
	Seed    uint64
	Until   time.Duration // virtual time at which the run stops; 0 means Length
	Clients int           // runs only the first of the clients generated from the seed; 0 means all
	Without []int         // indices into Scenario.Faults of the faults left out, ascending
	Lobbies int           // 0: one lobby; n: a host with at most n of the lobbies generated from the seed
	Codec   schema.Codec  // of the lobby's snapshots; not chosen by the seed
}

// Duration is the virtual time that the case plays: Until, or all of the run.
func (c Case) Duration() time.Duration { return cmp.Or(c.Until, c.schedule().end) }

// schedule is that of the case's run.
func (c Case) schedule() schedule {
	if c.Lobbies > 0 {
		return ofHost
	}
	return ofLobby
}

// Draw generates the scenario of the case's seed, with everything that the case leaves out.
func (c Case) Draw() Scenario {
	if c.Lobbies > 0 {
		return DrawHost(c.Seed)
	}
	return Draw(c.Seed)
}

// String formats the case as flags.
func (c Case) String() string {
	s := fmt.Sprintf("--seed %d", c.Seed)
	if c.Lobbies != 0 {
		s += fmt.Sprintf(" --lobbies %d", c.Lobbies)
	}
	if c.Until != 0 {
		s += fmt.Sprintf(" --until %v", c.Until)
	}
	if c.Clients != 0 {
		s += fmt.Sprintf(" --clients %d", c.Clients)
	}
	if len(c.Without) > 0 {
		s += " --without " + formatSet(c.Without)
	}
	if c.Codec != schema.Huffman {
		s += fmt.Sprintf(" --codec %v", c.Codec)
	}
	return s
}

// ParseCase parses the output of String.
func ParseCase(line string) (c Case, err error) {
	words := strings.Fields(line)
	for i := 0; i+1 < len(words); i += 2 {
		switch v := words[i+1]; words[i] {
		case "--seed":
			c.Seed, err = strconv.ParseUint(v, 10, 64)
		case "--until":
			c.Until, err = time.ParseDuration(v)
		case "--clients":
			c.Clients, err = strconv.Atoi(v)
		case "--without":
			c.Without, err = ParseSet(v)
		case "--lobbies":
			c.Lobbies, err = strconv.Atoi(v)
		case "--codec":
			c.Codec, err = schema.ParseCodec(v)
		default:
			err = fmt.Errorf("unknown flag %s", words[i])
		}
		if err != nil {
			return c, fmt.Errorf("case %q: %w", line, err)
		}
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return c, fmt.Errorf("case %q: expected flags and values", line)
	}
	return c, c.Check()
}

// Check returns an error that names the first field out of range.
func (c Case) Check() error {
	if c.Lobbies < 0 || c.Lobbies > MaxLobbies {
		return fmt.Errorf("%d lobbies: expected 1 to %d, or 0 for one without a host", c.Lobbies, MaxLobbies)
	}
	p, most := c.Draw(), c.schedule().end
	switch {
	case c.Until < 0 || c.Until > most:
		return fmt.Errorf("until %v: expected 0 to %v", c.Until, most)
	case c.Clients < 0 || c.Clients > p.Clients:
		return fmt.Errorf("%d clients: expected 1 to %d as drawn by the seed, or 0 for all",
			c.Clients, p.Clients)
	}
	for _, n := range c.Without {
		if n < 0 || n >= len(p.Faults) {
			return fmt.Errorf("fault %d: expected 0 to %d as drawn by the seed", n, len(p.Faults)-1)
		}
	}
	return nil
}

// formatSet formats ascending numbers as 1-3,7.
func formatSet(set []int) string {
	var parts []string
	for i := 0; i < len(set); {
		k := i
		for k+1 < len(set) && set[k+1] == set[k]+1 {
			k++
		}
		part := strconv.Itoa(set[i])
		if k > i {
			part += "-" + strconv.Itoa(set[k])
		}
		parts = append(parts, part)
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// maxSet bounds the numbers that ParseSet accepts.
const maxSet = 10_000

// ParseSet parses numbers such as 1-3,7 and returns them ascending, without repeats.
func ParseSet(text string) (set []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, span := strings.Cut(part, "-")
		if !span {
			hi = lo
		}
		from, err := strconv.Atoi(lo)
		to, err2 := strconv.Atoi(hi)
		if err != nil || err2 != nil || from < 0 || to < from || to >= maxSet {
			return nil, fmt.Errorf("%q: expected numbers such as 1-3,7", text)
		}
		for n := from; n <= to; n++ {
			set = append(set, n)
		}
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

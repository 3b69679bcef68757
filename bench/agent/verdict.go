package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
)

// Standing is what a step found about one agent. Texts are empty where nothing is wrong.
type Standing struct {
	Name    string
	Players int           // of its share
	Ahead   time.Duration // of its clock; see Bound
	Bound   time.Duration // of the error of Ahead
	Dead    string        // it died in the step
	Fault   string        // it could not go on
	Starved string        // its players did not keep their schedule, or its threads woke late
	Clock   string        // its clock is too far off, or not known well enough
}

// Wrong is what is wrong with the agent, "" if nothing is.
func (s *Standing) Wrong() string {
	var all []string
	for _, why := range []string{s.Dead, s.Fault, s.Starved, s.Clock} {
		if why != "" {
			all = append(all, why)
		}
	}
	return strings.Join(all, "; ")
}

// Figure says whether a figure of a step stands.
type Figure struct {
	Name string
	Of   []string // the agents whose part of it stands
	Void string   // why the figure of the whole step does not stand; "": it does
}

// Verdict is what a step of several agents found.
type Verdict struct {
	Agents  []Standing
	Figures []Figure // service level, round trips, snapshot age
	Merged  *Merged  // of the agents that reported
	Void    string   // why the step says nothing about the server; "": it does
	// Why the snapshot age does not stand; the other figures may.
	AgeVoid string
}

// Verdict judges the step so far.
func (c *Coordinator) Verdict() Verdict {
	if c.step == nil {
		return Verdict{}
	}
	v := Verdict{Merged: c.step.merged}
	for _, p := range c.step.parts {
		s := p.Standing
		s.Ahead, s.Bound = p.offset.Estimate()
		s.Clock = c.clock(s.Ahead, s.Bound)
		if p.report != nil {
			s.Starved = starved(p.report, c.step.period)
		} else if !p.gone() {
			s.Fault = "has no figures"
		}
		v.Agents = append(v.Agents, s)
	}
	v.judge()
	return v
}

// clock says why figures that need an agent's clock do not stand. A clock far off is not kept by
// NTP: it may be set while the players play.
func (c *Coordinator) clock(ahead, bound time.Duration) string {
	switch limit := c.cfg.ClockLimit; {
	case bound > limit:
		return fmt.Sprintf("its clock is known to %.1f ms only, the limit is %.0f ms", ms(bound), ms(limit))
	case ahead > limit || ahead < -limit:
		return fmt.Sprintf("its clock is off by %+.1f ms (to %.2f ms), the limit is %.0f ms", ms(ahead),
			ms(bound), ms(limit))
	}
	return ""
}

// starved says why an agent's figures say more about its machine than about the server.
func starved(r *Report, period time.Duration) string {
	one := newMerged()
	if one.add(r) != nil {
		return "" // not reached: figures are checked when they arrive
	}
	if why := one.Figures.Void(); why != "" {
		return why
	}
	if late := one.Hiccup.Quantile(0.99); late > int64(period/2) {
		return fmt.Sprintf("an idle thread woke %.1f ms late at p99, over half a tick", float64(late)/1e6)
	}
	if r.StartLate > period {
		return fmt.Sprintf("it started %.1f ms after the others", ms(r.StartLate))
	}
	return ""
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// judge sets what follows from the agents' standings.
func (v *Verdict) judge() {
	played := func(s Standing) bool { return s.Dead == "" && s.Fault == "" && s.Starved == "" }
	timed := func(s Standing) bool { return played(s) && s.Clock == "" }
	v.Void = v.reasons(func(s *Standing) string { t := *s; t.Clock = ""; return t.Wrong() })
	v.AgeVoid = v.reasons(func(s *Standing) string { return s.Clock })
	age := v.Void
	if age == "" {
		age = v.AgeVoid
	}
	v.Figures = []Figure{
		{"service level", v.names(func(Standing) bool { return v.Void == "" }), v.Void},
		{"round trip", v.names(played), v.Void},
		{"snapshot age", v.names(timed), age},
	}
}

// reasons joins what is wrong with each agent.
func (v *Verdict) reasons(wrong func(*Standing) string) string {
	var all []string
	for i := range v.Agents {
		if why := wrong(&v.Agents[i]); why != "" {
			all = append(all, fmt.Sprintf("agent %s %s", v.Agents[i].Name, why))
		}
	}
	return strings.Join(all, "; ")
}

func (v *Verdict) names(stand func(Standing) bool) (all []string) {
	for _, s := range v.Agents {
		if stand(s) {
			all = append(all, s.Name)
		}
	}
	return all
}

// Text is the verdict as lines: each agent with what is wrong, then each figure with the agents
// that it stands for.
func (v *Verdict) Text() string {
	var b strings.Builder
	for i := range v.Agents {
		s := &v.Agents[i]
		wrong := s.Wrong()
		if wrong == "" {
			wrong = "as it should"
		}
		fmt.Fprintf(&b, "agent %s, %d players, clock %+.2f ms (to %.2f ms): %s\n", s.Name, s.Players, ms(s.Ahead),
			ms(s.Bound), wrong)
	}
	for _, f := range v.Figures {
		switch {
		case f.Void == "":
			fmt.Fprintf(&b, "%s stands\n", f.Name)
		case len(f.Of) == 0:
			fmt.Fprintf(&b, "%s does not stand: %s\n", f.Name, f.Void)
		default:
			fmt.Fprintf(&b, "%s stands for agents %s alone: %s\n", f.Name, strings.Join(f.Of, ", "), f.Void)
		}
	}
	return b.String()
}

// standings are the agents for a report.
func (v *Verdict) standings() (all []measure.Agent) {
	for i := range v.Agents {
		s := &v.Agents[i]
		all = append(all, measure.Agent{Name: s.Name, Players: s.Players, ClockMillis: ms(s.Ahead),
			ClockBoundMillis: ms(s.Bound), Wrong: s.Wrong(),
			Stands: slices.Clone(v.standsFor(s.Name))})
	}
	return all
}

// standsFor are the names of the figures that stand for an agent.
func (v *Verdict) standsFor(name string) (all []string) {
	for _, f := range v.Figures {
		if slices.Contains(f.Of, name) {
			all = append(all, f.Name)
		}
	}
	return all
}

package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// ShotFilter selects shot records. Zero fields match all.
type ShotFilter struct {
	Shooter, Subject uint32
	Verdicts         uint32 // bit v: Verdict v
	Clamps           uint32 // bit c: ClampReason c
	From, To         tick.Tick
	Number           uint64 // that record alone
}

// AddVerdict adds a verdict by its name.
func (f *ShotFilter) AddVerdict(name string) error {
	var v Verdict
	err := v.UnmarshalText([]byte(name))
	if err == nil {
		f.Verdicts |= 1 << v
	}
	return err
}

// AddClamp adds a clamp reason by its name; "any" is all but none.
func (f *ShotFilter) AddClamp(name string) error {
	if name == "any" {
		f.Clamps |= 1<<clampReasons - 2
		return nil
	}
	var c ClampReason
	err := c.UnmarshalText([]byte(name))
	if err == nil {
		f.Clamps |= 1 << c
	}
	return err
}

// Matches reports whether the filter selects a record.
func (f *ShotFilter) Matches(r *ShotRecord) bool {
	return (f.Shooter == 0 || r.Shooter == f.Shooter) && (f.Subject == 0 || r.Subject == f.Subject) &&
		(f.Verdicts == 0 || f.Verdicts>>r.Verdict&1 != 0) &&
		(f.Clamps == 0 || f.Clamps>>r.ClampReason&1 != 0) &&
		r.Tick >= f.From && (f.To == 0 || r.Tick <= f.To) && (f.Number == 0 || r.Number == f.Number)
}

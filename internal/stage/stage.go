// Package stage is the table of the stages of a tick by name. Profiles, metrics, trace regions,
// captures, plans, the regression gate and the live page use these names and no others. Match stands
// for the systems of the simulation, which are stages of their own, named as in sim.Systems.
package stage

// The names of the stages.
const (
	Receive  = "receive"
	Open     = "open"
	Match    = "match"
	Capture  = "capture"
	Snapshot = "snapshot"
	Seal     = "seal"
	Send     = "send"
	Idle     = "idle"
)

// Stage is a row of the table.
type Stage struct{ Name, Work string }

// All are the stages in the order of the tick.
var All = []Stage{
	{Receive, "datagrams from the socket, sessions, acks, commands"},
	{Open, "decryption"},
	{Match, "the systems of the simulation, one sub-stage each"},
	{Capture, "the tick's frame"},
	{Snapshot, "interest, budgets, encoding, one packet per due connection"},
	{Seal, "encryption"},
	{Send, "the socket"},
}

// GroupOf is the row of a stage in a table of few rows: its own, or Match for a system of the
// simulation.
func GroupOf(name string) string {
	for _, s := range All {
		if s.Name == name {
			return name
		}
	}
	return Match
}

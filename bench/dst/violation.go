package dst

import (
	"fmt"
	"time"
)

// Invariant is a condition that must always hold. Its number is that of the package comment's
// table.
type Invariant int

// The invariants, in the order of the package comment's table.
const (
	NoPanic       Invariant = iota
	Authority               // replaying the inputs gives the same match
	OnceATick               // each command is applied once, unchanged
	Movement                // speeds, solids and finite numbers
	Rewind                  // views of shots are clamped; hits agree with poses and snapshots
	Snapshots               // clients hold the server's rows
	Forwards                // snapshots and views of a client never go back
	NoLeak                  // no client is sent what it must not see
	Sessions                // addresses, client ids, slots and players map one to one
	Nonces                  // no sequence is sealed twice under one key
	Amplification           // unvalidated addresses are sent little
	Accounts                // each datagram counts once
	Bounds                  // queues, rates and allocations
	Isolation               // attackers without a session do not change the match
	Liveness                // without faults, every honest client plays
	ReplayFile              // a recording repeats the match
	Determinism             // equal seeds give equal bits
	numInvariants
)

var invariantNames = [numInvariants]string{
	"no panic", "authority", "once a tick", "movement", "rewind", "snapshots", "forwards", "no leak",
	"sessions", "nonces", "amplification", "accounts", "bounds", "isolation", "liveness", "replay file",
	"determinism"}

// String returns number and name.
func (i Invariant) String() string {
	return fmt.Sprintf("%d %s", int(i), invariantNames[i%numInvariants])
}

// Violation is an invariant that did not hold.
type Violation struct {
	Case      Case // its Until is just after the violation
	Invariant Invariant
	At        time.Duration // virtual time
	What      string        // what was found, and what was expected; a panic with its stack
}

// Error describes the violation and gives the command that repeats it.
func (b *Violation) Error() string {
	return fmt.Sprintf("invariant %v, at %v: %s\n\ttickrate sim dst %v", b.Invariant, b.At, b.What, b.Case)
}

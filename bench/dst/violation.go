package dst

import (
	"fmt"
	"time"
)

// Invariant is the number that the document on threats gives to what must be true.
type Invariant int

// The invariants. NoPanic, which has no number there, is that nothing panics.
const (
	NoPanic       Invariant = iota
	Authority               // the match is what its inputs make of it, played again
	OnceATick               // a command is applied once, as it was made
	Movement                // nobody is faster than can be, in a wall, or nowhere
	Rewind                  // shots look back no further than they may, and hit who was there and shown
	Snapshots               // what a client holds is what the server's frame says
	Forwards                // what a client sees goes forwards
	NoLeak                  // nobody is told of whom it must not see
	Sessions                // addresses, client ids, slots and players belong to each other
	Nonces                  // no sequence is sealed twice under a key
	Amplification           // who has proved nothing is answered little or nothing
	Accounts                // every datagram is counted once
	Bounds                  // queues and rates
	Isolation               // the match with strangers around is the match without them
	Liveness                // when nothing goes wrong, everybody plays
	ReplayFile              // a match that was recorded plays again
	Determinism             // the same seed, the same bits
	numInvariants
)

var invariantNames = [numInvariants]string{"no panic", "authority", "once a tick", "movement", "rewind", "snapshots", "forwards", "no leak", "sessions", "nonces",
	"amplification", "accounts", "bounds", "isolation", "liveness", "replay file", "determinism"}

// String is number and name.
func (i Invariant) String() string {
	return fmt.Sprintf("%d %s", int(i), invariantNames[i%numInvariants])
}

// Violation is that an invariant did not hold.
type Violation struct {
	Case      Case // Until is just after it
	Invariant Invariant
	At        time.Duration
	What      string
}

// Error tells the breach and the line that plays it again.
func (b *Violation) Error() string {
	return fmt.Sprintf("invariant %v, at %v: %s\n\ttickrate sim dst %v", b.Invariant, b.At, b.What, b.Case)
}

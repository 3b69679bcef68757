package console

import "fmt"

// Rank is what somebody may do. Who has a rank may do all that lower ones may.
type Rank uint8

// The ranks. Operator is for the process's own input, command line and files; it is never given to somebody on the network.
const (
	Nobody Rank = iota // may do nothing
	Guest              // somebody who plays
	Moderator
	Admin
	Operator // not remote: may do all
)

var rankNames = [...]string{"nobody", "guest", "moderator", "admin", "operator"}

// String is the rank's name.
func (r Rank) String() string {
	if int(r) < len(rankNames) {
		return rankNames[r]
	}
	return "?"
}

// Caller is who says a line. The zero value may do nothing.
type Caller struct {
	Name string // for logs
	Rank Rank
}

// Flags are properties of variables and commands.
type Flags uint8

// The flags.
const (
	Save       Flags = 1 << iota // a variable that saveconfig writes, once it is changed
	ServerInfo                   // a variable that everybody may read, and that clients are told when it changes
	ClientInfo                   // a variable that a client tells its server when it changes
	Cheat                        // a variable that has its default unless cheats is on
	Remote                       // may be used by remote callers who have the rank it needs
)

var flagNames = []string{"save", "serverinfo", "clientinfo", "cheat", "remote"}

// String lists the flags' names.
func (f Flags) String() (s string) {
	for i, name := range flagNames {
		if f>>i&1 != 0 {
			s += " " + name
		}
	}
	return s
}

// permit returns why a caller may not use an entry, nil if it may. An entry that is Remote and names no rank needs Admin.
func permit(who Caller, name string, flags Flags, needs Rank) error {
	if needs == Nobody {
		needs = Admin
	}
	switch {
	case who.Rank == Operator:
		return nil
	case who.Rank > Operator || who.Rank == Nobody:
		return fmt.Errorf("%s: not permitted", name)
	case flags&Remote == 0:
		return fmt.Errorf("%s: not for remote callers", name)
	case who.Rank < needs:
		return fmt.Errorf("%s: needs rank %v, yours is %v", name, needs, who.Rank)
	}
	return nil
}

package console

import "fmt"

// Rank is what a caller may do. A rank includes the lower ones.
type Rank uint8

// The ranks. Operator is for the input, the command line and the files of the process; nobody on
// the network has it.
const (
	Nobody Rank = iota // may do nothing
	Guest              // a player
	Moderator
	Admin
	Operator // not remote: may do everything
)

var rankNames = [...]string{"nobody", "guest", "moderator", "admin", "operator"}

// String is the rank's name.
func (r Rank) String() string {
	if int(r) < len(rankNames) {
		return rankNames[r]
	}
	return "?"
}

// Caller is the source of a line. The zero value may do nothing.
type Caller struct {
	Name string // for logs
	Rank Rank
}

// Flags are properties of variables and commands.
type Flags uint8

// The flags.
const (
	Save       Flags = 1 << iota // saveconfig writes the variable once it has changed
	ServerInfo                   // every caller may read the variable; clients get its changes
	ClientInfo                   // a client sends changes of the variable to its server
	Cheat                        // the variable has its default unless cheats is on
	Remote                       // remote callers with the rank may use the entry
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

// permit returns why a caller may not use an entry, nil if it may. A Remote entry without a rank
// needs Admin.
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

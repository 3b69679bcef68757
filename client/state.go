package client

// State is how far a client has come.
type State uint8

// The states of a client. The last three are final.
const (
	Connecting State = iota // shaking hands
	Joined                  // playing
	Denied                  // the server said no, or names an arena that we do not have
	Lost                    // the server closed the session, or was silent for too long
	Left                    // we left
)

// String names the state.
func (s State) String() string {
	if s > Left {
		return "invalid"
	}
	return [...]string{"connecting", "joined", "denied", "lost", "left"}[s]
}

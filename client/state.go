package client

// State is how far a client has come.
type State uint8

// The states of a client. The last three are final.
const (
	Connecting State = iota // shaking hands, or waiting for the Welcome
	Joined                  // playing
	Denied                  // the server has no place for us, or its Welcome names something that we do not have
	Lost                    // the server closed the session, was silent for too long, never answered, or is none of ours
	Left                    // we left
)

// String names the state.
func (s State) String() string {
	if s > Left {
		return "invalid"
	}
	return [...]string{"connecting", "joined", "denied", "lost", "left"}[s]
}

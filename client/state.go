package client

// State is the state of a client.
type State uint8

// The states of a client. The last three are final.
const (
	Connecting State = iota // handshake, or waiting for the Welcome and its content
	Joined                  // playing
	Denied                  // the server is full, or the client lacks its content
	Lost                    // the server closed the session, or fell silent, or never answered
	Left                    // by Leave
)

// String names the state.
func (s State) String() string {
	if s > Left {
		return "invalid"
	}
	return [...]string{"connecting", "joined", "denied", "lost", "left"}[s]
}

package netcode

// State is the state of a Client, with the numbers of the standard. States below zero are errors
// and final.
type State int8

// The states of a Client.
const (
	TokenExpired       State = -6 // the attempt outlived the token
	InvalidToken       State = -5 // nothing was sent
	ConnectionTimedOut State = -4 // the server stopped sending
	ResponseTimedOut   State = -3 // the server stopped after its challenge
	RequestTimedOut    State = -2 // the server never answered
	ConnectionDenied   State = -1 // the server has no slot
	Disconnected       State = 0  // one side has ended the session
	SendingRequest     State = 1
	SendingResponse    State = 2
	Connected          State = 3
)

// String names the state.
func (s State) String() string {
	if s < TokenExpired || s > Connected {
		return "invalid"
	}
	return [...]string{"connect token expired", "invalid connect token", "connection timed out",
		"connection response timed out",
		"connection request timed out", "connection denied", "disconnected", "sending connection request",
		"sending connection response", "connected"}[s-TokenExpired]
}

// StateError is a failed State as an error.
type StateError State

// Error says what went wrong.
func (e StateError) Error() string { return "netcode: " + State(e).String() }

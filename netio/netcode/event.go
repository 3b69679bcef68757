package netcode

// EventKind is the kind of an Event.
type EventKind uint8

// The events of a Server.
const (
	EventNone       EventKind = iota // nothing to do: part of a handshake, or a keep-alive
	EventConnected                   // Client has a new session
	EventTakeover                    // Client's new session replaces a silent one of its id
	EventPayload                     // Client sent Payload
	EventMigrated                    // Client has another address
	EventDisconnect                  // Client has left; its slot is free
	EventTimeout                     // Client was silent for too long; its slot is free
	// Client floods; its datagrams are dropped, and the next Update disconnects it
	EventKick
	EventExhausted // Client's sequences were used up; its slot is free
	// The datagram is for member Client of the Group. This server has not counted it: give it to that
	// member, or to CountDrop. If Client is this server itself, the session moves: try later
	EventElsewhere
)

// String names the event.
func (k EventKind) String() string {
	if k > EventElsewhere {
		return "invalid"
	}
	return [...]string{"none", "connected", "takeover", "payload", "moved", "disconnect", "timeout", "kick",
		"exhausted", "elsewhere"}[k]
}

// Event is what a datagram or the passing of time means to the owner of a Server.
type Event struct {
	Kind    EventKind
	Client  int    // its slot, 0 to Clients-1; of EventElsewhere a member
	Payload []byte // 1 to MaxPayload bytes, in the datagram's own memory
}

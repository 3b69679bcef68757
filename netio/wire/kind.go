package wire

// MaxDatagram is the largest UDP payload that either end sends or accepts, in bytes. 1200 passes unfragmented through
// every path that carries QUIC (RFC 9000, section 14).
const MaxDatagram = 1200

// Version of the protocol. Both ends must have the same.
const Version = 1

// Kind is the first byte of a datagram.
type Kind uint8

// The kinds of datagrams. Zero is none.
const (
	KindHello      Kind = 1 // client: I should like to come in
	KindChallenge  Kind = 2 // server: prove that you can hear me
	KindResponse   Kind = 3 // client: I can, and this is my name
	KindAccept     Kind = 4 // server: you are in, and this is your session
	KindDeny       Kind = 5 // server: no, because
	KindPayload    Kind = 6 // both: a package of the session
	KindDisconnect Kind = 7 // both: the session is over, because
)

// KindOf reads the kind of a datagram; 0 when it is empty. The kind may be one that does not exist.
func KindOf(datagram []byte) Kind {
	if len(datagram) == 0 {
		return 0
	}
	return Kind(datagram[0])
}

// Section is the byte that opens a part of a payload. After its Header a payload is a row of sections, each at most
// once and in the order below. The first three know their own end; Commands and Snapshot are read by their owners, who
// say what remains.
type Section uint8

// The sections of a payload, in the order in which they stand. Zero is none.
const (
	SectionEvents   Section = 1 // both ways: reliable ordered events
	SectionNotes    Section = 4 // both ways: unreliable events
	SectionFragment Section = 5 // both ways: a part of a blob
	SectionCommands Section = 2 // client to server: a window of inputs
	SectionSnapshot Section = 3 // server to client: a part of a frame
)

// SectionOf reads the id of the section at the front of a payload; 0 when nothing is left.
func SectionOf(payload []byte) Section {
	if len(payload) == 0 {
		return 0
	}
	return Section(payload[0])
}

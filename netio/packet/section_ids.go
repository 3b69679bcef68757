package packet

// MaxPacketSize is the longest package, in bytes: what fits into one sealed datagram.
const MaxPacketSize = 1200

// Section is the byte that opens a part of a package. Behind its Header a package is a row of sections, each at most
// once and in the order below. The first four know their own end; Commands and Snapshot are read by their owners, who
// say what remains.
type Section uint8

// The sections of a package, in the order in which they stand. Zero is none.
const (
	SectionReliable   Section = 1 // both ways: reliable ordered events
	SectionUnreliable Section = 4 // both ways: unreliable events
	SectionFragment   Section = 5 // both ways: a part of a blob
	SectionClose      Section = 6 // both ways: the session is over, because
	SectionCommands   Section = 2 // client to server: a window of inputs
	SectionSnapshot   Section = 3 // server to client: a part of a frame
)

// SectionOf reads the id of the section at the front of a package's rest; 0 when nothing is left.
func SectionOf(rest []byte) Section {
	if len(rest) == 0 {
		return 0
	}
	return Section(rest[0])
}

package packet

// MaxPacketSize is the longest packet in bytes: what fits into one sealed datagram.
const MaxPacketSize = 1200

// Section is the byte that opens a part of a packet. Behind its Header a packet is a row of
// sections, each at most once and in the order below. The first four know their own length; the
// owners of Commands and Snapshot parse those.
type Section uint8

// The sections of a packet, in the order in which they stand. Zero is none.
const (
	SectionReliable   Section = 1 // both ways: reliable messages
	SectionUnreliable Section = 4 // both ways: unreliable messages
	SectionFragment   Section = 5 // both ways: a fragment of a transfer
	SectionClose      Section = 6 // both ways: the reason that ends the session
	SectionCommands   Section = 2 // client to server: a window of inputs
	SectionSnapshot   Section = 3 // server to client: a part of a frame
)

// SectionOf returns the section at the front of rest, 0 when rest is empty.
func SectionOf(rest []byte) Section {
	if len(rest) == 0 {
		return 0
	}
	return Section(rest[0])
}

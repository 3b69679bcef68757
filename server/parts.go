package server

// Part is what bytes to clients are for, as far as whoever writes them knows for nothing.
type Part int

// The parts. Together they are BytesOut.
const (
	PartHead    Part = iota // heads of packages and of snapshots
	PartEvents              // what happened, names, lines, notes
	PartOwner               // each client's own state, which it predicts
	PartThings              // what flies and stands about
	PartRows                // the state of everybody else
	PartSeal                // prefixes and tags of netcode 1.02
	PartContent             // models and maps, sealed
	PartRest                // handshakes, keep-alives, padding
	NumParts
)

// String names the part on the live page.
func (p Part) String() string {
	return [NumParts]string{"heads", "events", "own state", "things", "others' state", "seals", "content", "rest"}[p]
}

// parts are bytes by part, since the lobby was made. The goroutine that plays the ticks owns them.
type parts [NumParts]uint64

// total is all that the lobby has sent, by part. Content and the rest follow from counters.
func (l *Lobby) total() parts {
	p := l.parts
	p[PartContent] = l.Stats.Count[ContentBytes].Load()
	p[PartRest] = l.Stats.Count[BytesOut].Load()
	for _, n := range p[:PartRest] {
		p[PartRest] -= min(n, p[PartRest]) // what could not be sealed was written and not sent
	}
	return p
}

// traffic is what one session's packages have come to.
type traffic struct {
	down, up        uint64 // bytes of UDP payload, sealed
	taken           uint64 // packages from it
	delivered, lost uint64 // packages to it, as far as that is known
}

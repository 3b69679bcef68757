package wire

// Sizes of an Accept: without an arena name, and with the longest.
const (
	MinAccept = 1 + 8 + 8 + 2 + 4 + 1 + 1 + 4 + 2 + 32 + 1
	MaxAccept = MinAccept + MaxArenaName
)

// Accept answers a good Response: the client is in. The server repeats it for every repetition of the Response.
//
//	 1  kind       4
//	 8  nonce      of the Hello
//	 8  token      of the session, never 0; opens every later datagram
//	 2  slot       the client's index in the lobby
//	 4  net id     of the client's player entity
//	 1  tick rate  simulation steps a second, never 0
//	 1  interval   ticks from one snapshot to the next, never 0
//	 4  tick       of the server when this was sent
//	 2  players    how many the lobby takes
//	32  arena hash
//	 1  length of the arena's name, 0 to 64
//	 n  arena name printable UTF-8
type Accept struct {
	Nonce        uint64
	Token        uint64
	Slot         uint16
	NetID        uint32
	TickRate     uint8
	SendInterval uint8
	Tick         uint32
	MaxPlayers   uint16
	ArenaHash    [32]byte
	ArenaName    string
}

// Append writes a at the end of dst. The arena's name must pass ValidText.
func (a *Accept) Append(dst []byte) []byte {
	if len(a.ArenaName) > MaxArenaName || !ValidText([]byte(a.ArenaName), MaxArenaName) {
		panic("wire: accept with an arena name that is not valid")
	}
	dst = append(dst, byte(KindAccept))
	dst = le.AppendUint64(dst, a.Nonce)
	dst = le.AppendUint64(dst, a.Token)
	dst = le.AppendUint16(dst, a.Slot)
	dst = le.AppendUint32(dst, a.NetID)
	dst = append(dst, a.TickRate, a.SendInterval)
	dst = le.AppendUint32(dst, a.Tick)
	dst = le.AppendUint16(dst, a.MaxPlayers)
	dst = append(dst, a.ArenaHash[:]...)
	dst = append(dst, byte(len(a.ArenaName)))
	return append(dst, a.ArenaName...)
}

// ParseAccept reads an Accept. The error is a Drop.
func ParseAccept(src []byte) (a Accept, err error) {
	if len(src) < MinAccept || len(src) > MaxAccept {
		return a, DropSize
	}
	if Kind(src[0]) != KindAccept {
		return a, DropKind
	}
	a.Nonce = le.Uint64(src[1:])
	a.Token = le.Uint64(src[9:])
	a.Slot = le.Uint16(src[17:])
	a.NetID = le.Uint32(src[19:])
	a.TickRate, a.SendInterval = src[23], src[24]
	a.Tick = le.Uint32(src[25:])
	a.MaxPlayers = le.Uint16(src[29:])
	a.ArenaHash = [32]byte(src[31:63])
	name := src[MinAccept:]
	if int(src[63]) != len(name) {
		return a, DropSize
	}
	if a.Token == 0 || a.TickRate == 0 || a.SendInterval == 0 {
		return a, DropValue
	}
	if !ValidText(name, MaxArenaName) {
		return a, DropText
	}
	a.ArenaName = string(name)
	return a, nil
}

package wire

// DisconnectSize is the length of a Disconnect.
const DisconnectSize = 1 + 8 + 1

// DisconnectRepeats is how many copies of a Disconnect are sent at once: nothing acknowledges it, and at 30 % loss all
// ten are lost once in 170,000 times (the number is netcode's). Then the other end notices by silence.
const DisconnectRepeats = 10

// Disconnect ends a session.
//
//	1  kind   7
//	8  token  as in Header
//	1  reason
type Disconnect struct {
	Token  uint64
	Reason Reason
}

// Append writes d at the end of dst: DisconnectSize bytes.
func (d *Disconnect) Append(dst []byte) []byte {
	dst = append(dst, byte(KindDisconnect))
	dst = le.AppendUint64(dst, d.Token)
	return append(dst, byte(d.Reason))
}

// ParseDisconnect reads a Disconnect. The error is a Drop.
func ParseDisconnect(src []byte) (d Disconnect, err error) {
	if len(src) != DisconnectSize {
		return d, DropSize
	}
	if Kind(src[0]) != KindDisconnect {
		return d, DropKind
	}
	d.Token = le.Uint64(src[1:])
	d.Reason = Reason(src[9])
	if !d.Reason.Valid() {
		return d, DropValue
	}
	return d, nil
}

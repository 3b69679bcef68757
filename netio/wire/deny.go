package wire

// DenySize is the length of a Deny.
const DenySize = 1 + 8 + 1

// Deny answers a Hello or a Response with no.
//
//	1  kind   5
//	8  nonce  of the Hello
//	1  reason
type Deny struct {
	Nonce  uint64
	Reason Reason
}

// Append writes d at the end of dst: DenySize bytes.
func (d *Deny) Append(dst []byte) []byte {
	dst = append(dst, byte(KindDeny))
	dst = le.AppendUint64(dst, d.Nonce)
	return append(dst, byte(d.Reason))
}

// ParseDeny reads a Deny. The error is a Drop.
func ParseDeny(src []byte) (d Deny, err error) {
	if len(src) != DenySize {
		return d, DropSize
	}
	if Kind(src[0]) != KindDeny {
		return d, DropKind
	}
	d.Nonce = le.Uint64(src[1:])
	d.Reason = Reason(src[9])
	if !d.Reason.Valid() {
		return d, DropValue
	}
	return d, nil
}

package wire

// ReadySize is the length of a Ready.
const ReadySize = 1 + 1 + 8 + 8

// Ready is the first event from a client: it has what the Welcome named, and snapshots may begin.
//
//	1  tag      0xf2
//	1  version
//	8  schema   hash of all schemas that the client has
//	8  model    hash of the compression model that the client has
type Ready struct {
	Version uint8
	Schema  uint64
	Model   uint64
}

// Append writes r at the end of dst: ReadySize bytes.
func (r *Ready) Append(dst []byte) []byte {
	dst = append(dst, TagReady, r.Version)
	dst = le.AppendUint64(dst, r.Schema)
	return le.AppendUint64(dst, r.Model)
}

// ParseReady reads a Ready, of any version. The error is a Drop.
func ParseReady(src []byte) (r Ready, err error) {
	if len(src) != ReadySize || src[0] != TagReady {
		return r, DropEvents
	}
	return Ready{src[1], le.Uint64(src[2:]), le.Uint64(src[10:])}, nil
}

package wire

// Sizes of a Response: without a name, and with the longest.
const (
	MinResponse = 1 + 8 + 16 + 1
	MaxResponse = MinResponse + MaxName
)

// Response returns the cookie of a Challenge and says who comes.
//
//	 1  kind   3
//	 8  nonce  of the Hello
//	16  cookie of the Challenge
//	 1  length of the name, 0 to 32
//	 n  name   printable UTF-8
type Response struct {
	Nonce  uint64
	Cookie Cookie
	Name   []byte // after a parse: a part of the datagram, copy it to keep it
}

// Append writes r at the end of dst. The name must pass ValidText.
func (r *Response) Append(dst []byte) []byte {
	if !ValidText(r.Name, MaxName) {
		panic("wire: response with a name that is not valid")
	}
	dst = append(dst, byte(KindResponse))
	dst = le.AppendUint64(dst, r.Nonce)
	dst = append(dst, r.Cookie[:]...)
	dst = append(dst, byte(len(r.Name)))
	return append(dst, r.Name...)
}

// ParseResponse reads a Response. The error is a Drop. Name lies in src.
func ParseResponse(src []byte) (r Response, err error) {
	if len(src) < MinResponse || len(src) > MaxResponse {
		return r, DropSize
	}
	if Kind(src[0]) != KindResponse {
		return r, DropKind
	}
	r.Nonce = le.Uint64(src[1:])
	r.Cookie = Cookie(src[9:25])
	name := src[MinResponse:]
	if int(src[25]) != len(name) {
		return r, DropSize
	}
	if !ValidText(name, MaxName) {
		return r, DropText
	}
	r.Name = name
	return r, nil
}

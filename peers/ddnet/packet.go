package ddnet

import "errors"

// Layout of a packet:
//
//	1  flags, and the two highest bits of the ack in the lowest
//	1  ack: number of the newest vital chunk received
//	1  number of chunks
//	.. chunks, then 4 bytes of the token; compressed where the flag says so
const (
	flagControl  = 0x10
	flagConnless = 0x20
	flagResend   = 0x40
	flagCompress = 0x80
	headerSize   = 3
	tokenSize    = 4
	sequences    = 1024 // numbers of vital chunks
)

// Messages of the connection itself.
const (
	controlAlive = iota
	controlConnect
	controlAccepted // by the server
	controlAccept   // by the client
	controlClose
)

const (
	chunkVital = 1
)

// packet is one that has been taken apart.
type packet struct {
	flags byte
	ack   int
	count int
	data  []byte // without the token
}

var errPacket = errors.New("ddnet: packet that is no packet")

// parsePacket takes a datagram apart; room is where a compressed one is unpacked to.
func parsePacket(datagram, room []byte) (p packet, err error) {
	if len(datagram) < headerSize || datagram[0]&flagConnless != 0 {
		return p, errPacket
	}
	p.flags, p.ack = datagram[0]&0xfc, int(datagram[0]&3)<<8|int(datagram[1])
	p.count, p.data = int(datagram[2]), datagram[headerSize:]
	if p.flags&flagCompress != 0 {
		if p.data, err = Decompress(room[:0], p.data); err != nil {
			return p, err
		}
	}
	return p, nil
}

// appendPacket appends a packet with a body, compressed where that is shorter.
func appendPacket(dst []byte, flags byte, ack, count int, body []byte) []byte {
	start := len(dst)
	dst = append(dst, flags|byte(ack>>8), byte(ack), byte(count))
	if flags&flagControl == 0 {
		dst = Compress(dst, body)
		if len(dst)-start-headerSize < len(body) {
			dst[start] |= flagCompress
			return dst
		}
		dst = dst[:start+headerSize]
	}
	return append(dst, body...)
}

// chunk is one message of a packet.
type chunk struct {
	vital    bool
	sequence int
	data     []byte
}

// Layout of a chunk: two bits of flags and ten of the size in two bytes, whose upper half of the
// second and a third byte hold the number of a vital one.
func (c chunk) append(dst []byte) []byte {
	size := len(c.data)
	if !c.vital {
		return append(append(dst, byte(size>>4&0x3f), byte(size&15)), c.data...)
	}
	dst = append(dst, chunkVital<<6|byte(size>>4&0x3f), byte(size&15)|byte(c.sequence>>2)&0xf0, byte(c.sequence))
	return append(dst, c.data...)
}

// nextChunk takes the first chunk off data.
func nextChunk(data []byte) (c chunk, rest []byte, err error) {
	if len(data) < 2 {
		return c, nil, errPacket
	}
	size := int(data[0]&0x3f)<<4 | int(data[1]&15)
	c.vital = data[0]>>6&chunkVital != 0
	rest = data[2:]
	if c.vital {
		if len(rest) < 1 {
			return c, nil, errPacket
		}
		c.sequence = int(data[1]&0xf0)<<2 | int(rest[0])
		rest = rest[1:]
	}
	if size > len(rest) {
		return c, nil, errPacket
	}
	c.data = rest[:size]
	return c, rest[size:], nil
}

package ddnet

const (
	maxParts = 64
	partSize = 900
)

// parts puts a snapshot together that came in several messages.
type parts struct {
	tick int32
	have uint64 // bit n: part n is here
	data [maxParts * partSize]byte
	size int
}

// add takes a part and returns the whole once it is there.
func (p *parts) add(tick, count, part int32, data []byte) []byte {
	if count < 1 || count > maxParts || part < 0 || part >= count || len(data) > partSize {
		return nil
	}
	if p.tick != tick {
		p.tick, p.have, p.size = tick, 0, 0
	}
	if part < count-1 && len(data) != partSize {
		return nil
	}
	copy(p.data[part*partSize:], data)
	p.have |= 1 << part
	if part == count-1 {
		p.size = int(part)*partSize + len(data)
	}
	if p.have != 1<<count-1 {
		return nil
	}
	p.have = 0
	return p.data[:p.size]
}

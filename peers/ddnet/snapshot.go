package ddnet

import "errors"

// Types of items that this client looks at.
const (
	itemCharacter = 9
	itemPlayer    = 10
)

// itemSizes are the numbers in an item of each type up to 20; an item of another type says its
// own. As src/game/generated/protocol has them, made from datasrc/network.py.
var itemSizes = [...]int32{0, 10, 6, 5, 4, 3, 8, 4, 15, 22, 5, 17, 3, 2, 2, 2, 2, 3, 3, 3, 3}

// Bounds of a snapshot: items, and numbers in all of them, which are 64 KiB.
const (
	maxItems   = 1024
	maxNumbers = 1 << 14
)

// items are a snapshot: numbers by key, which is the type in the upper half and an id.
type items map[int32][]int32

var (
	errDelta = errors.New("ddnet: delta that does not fit its snapshot")
	errSum   = errors.New("ddnet: snapshot with another checksum")
)

// apply returns base with a delta: the numbers of removed keys, changed items and nothing, then
// the keys, then type, id and differences of each item. It returns the bytes that characters took.
func (base items) apply(data []byte) (next items, bytesOfCharacters int, err error) {
	u := unpacker{data: data}
	removed, changed, none := u.int(), u.int(), u.int()
	if u.failed || removed < 0 || changed < 0 || none != 0 || removed > maxItems || changed > maxItems {
		return nil, 0, errDelta
	}
	next = make(items, len(base)+int(changed))
	for key, numbers := range base {
		next[key] = numbers
	}
	for range removed {
		delete(next, u.int())
	}
	total := int32(0)
	for range changed {
		start := len(u.data)
		kind, id := u.int(), u.int()
		if kind < 0 || kind > 0x7fff || id < 0 || id > 0xffff {
			return nil, 0, errDelta
		}
		size := int32(0)
		if int(kind) < len(itemSizes) {
			size = itemSizes[kind]
		}
		if size == 0 {
			size = u.int()
		}
		if total += size; u.failed || size < 0 || size > maxNumbers || total > maxNumbers {
			return nil, 0, errDelta
		}
		key, numbers := kind<<16|id, make([]int32, size)
		old := next[key]
		if old != nil && len(old) != len(numbers) {
			return nil, 0, errDelta
		}
		for i := range numbers {
			numbers[i] = u.int()
			if old != nil {
				numbers[i] += old[i]
			}
		}
		next[key] = numbers
		if kind == itemCharacter {
			bytesOfCharacters += start - len(u.data)
		}
	}
	total = 0
	for _, numbers := range next {
		total += int32(len(numbers))
	}
	if u.failed || len(next) > maxItems || total > maxNumbers {
		return nil, 0, errDelta
	}
	return next, bytesOfCharacters, nil
}

// sum is the checksum: the sum of all numbers.
func (s items) sum() (sum int32) {
	for _, numbers := range s {
		for _, n := range numbers {
			sum += n
		}
	}
	return sum
}

// others is how many characters of other players there are.
func (s items) others() (n int) {
	for key, numbers := range s {
		switch key >> 16 {
		case itemCharacter:
			n++
		case itemPlayer:
			if numbers[0] == 1 && s[itemCharacter<<16|numbers[1]&0xffff] != nil { // oneself
				n--
			}
		}
	}
	return n
}

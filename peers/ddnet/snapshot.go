package ddnet

import (
	"cmp"
	"errors"
	"slices"
)

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

// item is one of a snapshot: its type in the upper half of the key and an id, and its numbers in
// items.numbers.
type item struct{ key, at, size int32 }

// items are a snapshot. It has no pointers, so that copying one is cheap.
type items struct {
	index   []item // by rising key
	numbers []int32
}

// find is the place of a key in the index, or where it belongs.
func (s *items) find(key int32) (place int, found bool) {
	return slices.BinarySearchFunc(s.index, key, func(i item, key int32) int { return cmp.Compare(i.key, key) })
}

// of are the numbers of an item.
func (s *items) of(i item) []int32 { return s.numbers[i.at : i.at+i.size] }

var (
	errDelta = errors.New("ddnet: delta that does not fit its snapshot")
	errSum   = errors.New("ddnet: snapshot with another checksum")
)

// apply returns base with a delta: the numbers of removed keys, changed items and nothing, then
// the keys, then type, id and differences of each item. It returns the bytes that characters took.
func (base *items) apply(data []byte) (next items, bytesOfCharacters int, err error) {
	u := unpacker{data: data}
	removed, changed, none := u.int(), u.int(), u.int()
	if u.failed || removed < 0 || changed < 0 || none != 0 || removed > maxItems || changed > maxItems {
		return next, 0, errDelta
	}
	next.index = slices.Clone(base.index)
	for range removed {
		if i, found := next.find(u.int()); found {
			next.index = slices.Delete(next.index, i, i+1)
		}
	}
	next.numbers = make([]int32, 0, len(base.numbers))
	for i, old := range next.index {
		next.index[i].at = int32(len(next.numbers))
		next.numbers = append(next.numbers, base.of(old)...)
	}
	total := int32(0)
	for range changed {
		start := len(u.data)
		kind, id := u.int(), u.int()
		if kind < 0 || kind > 0x7fff || id < 0 || id > 0xffff {
			return next, 0, errDelta
		}
		size := int32(0)
		if int(kind) < len(itemSizes) {
			size = itemSizes[kind]
		}
		if size == 0 {
			size = u.int()
		}
		if total += size; u.failed || size < 0 || size > maxNumbers || total > maxNumbers {
			return next, 0, errDelta
		}
		key := kind<<16 | id
		i, found := next.find(key)
		if !found {
			next.index = slices.Insert(next.index, i, item{key, int32(len(next.numbers)), size})
			next.numbers = append(next.numbers, make([]int32, size)...)
		} else if next.index[i].size != size {
			return next, 0, errDelta
		}
		numbers := next.of(next.index[i])
		for i := range numbers {
			numbers[i] += u.int()
		}
		if kind == itemCharacter {
			bytesOfCharacters += start - len(u.data)
		}
	}
	if u.failed || len(next.index) > maxItems || len(next.numbers) > maxNumbers {
		return next, 0, errDelta
	}
	return next, bytesOfCharacters, nil
}

// sum is the checksum: the sum of all numbers.
func (s *items) sum() (sum int32) {
	for _, n := range s.numbers {
		sum += n
	}
	return sum
}

// others is how many characters of other players there are.
func (s *items) others() (n int) {
	for _, i := range s.index {
		switch i.key >> 16 {
		case itemCharacter:
			n++
		case itemPlayer:
			numbers := s.of(i)
			if _, found := s.find(itemCharacter<<16 | numbers[1]&0xffff); found && numbers[0] == 1 { // oneself
				n--
			}
		}
	}
	return n
}

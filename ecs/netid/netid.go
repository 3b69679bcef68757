package netid

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ID names one entity for its whole life, on the wire and in memory. 0 names none.
//
//	bits 8..31  index       slot in [0, slots), reused lowest first
//	bits 0..7   generation  1..255, the next one each time the slot is reserved; 1 follows 255
//
// An id that is kept while its slot is reused 255 times names another entity. Nothing in a match
// keeps one that long.
type ID uint32

// MaxSlots is the number of slots that an ID can address.
const MaxSlots = 1 << 24

// Make packs an index in [0, MaxSlots) and a generation in 1..255. Higher index bits are cut off.
func Make(index int, gen uint8) ID { return ID(uint32(index)<<8 | uint32(gen)) }

// Index is the slot, from 0.
func (id ID) Index() int { return int(id >> 8) }

// Generation is the life of the slot, 1..255, or 0 for no entity.
func (id ID) Generation() uint8 { return uint8(id) }

// String reads as index.generation.
func (id ID) String() string { return fmt.Sprintf("%d.%d", id.Index(), id.Generation()) }

// ErrSyntax is the error of Parse.
var ErrSyntax = errors.New("expected a net id such as 8.1, or its number, 2049")

// Parse reads an id as String writes it, or as its number: 8.1 is 2049. It refuses 0 and 0.0,
// which name no entity.
func Parse(s string) (ID, error) {
	index, generation, dotted := strings.Cut(s, ".")
	n, err := strconv.ParseUint(index, 10, 32)
	if err == nil && dotted {
		var gen uint64
		if gen, err = strconv.ParseUint(generation, 10, 8); n >= MaxSlots {
			err = ErrSyntax
		}
		n = n<<8 | gen
	}
	if err != nil || n == 0 {
		return 0, ErrSyntax
	}
	return ID(n), nil
}

package ecs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// NetID names one entity for its whole life, on the wire and in memory. 0 is nobody.
//
//	bits 8..31  index       slot in [0, slots), reused lowest first
//	bits 0..7   generation  1..255, the next one each time the slot is reserved; 255 is followed by 1
//
// A handle kept over 255 lives of one slot would name a stranger; nothing in a match keeps one that long.
type NetID uint32

// MaxSlots is the greatest number of slots a NetID can tell apart.
const MaxSlots = 1 << 24

// MakeNetID packs an index in [0, MaxSlots) and a generation in 1..255. Higher index bits are cut off.
func MakeNetID(index int, gen uint8) NetID { return NetID(uint32(index)<<8 | uint32(gen)) }

// Index is the slot, from 0.
func (id NetID) Index() int { return int(id >> 8) }

// Generation is the life of the slot, 1..255, or 0 for nobody.
func (id NetID) Generation() uint8 { return uint8(id) }

// String reads as index.generation.
func (id NetID) String() string { return fmt.Sprintf("%d.%d", id.Index(), id.Generation()) }

// ErrNetID is ParseNetID's error.
var ErrNetID = errors.New("expected a net id such as 8.1, or its number, 2049")

// ParseNetID reads an id as String writes it, or as its number: 8.1 is 2049. 0 and 0.0, which are nobody, are refused.
func ParseNetID(s string) (NetID, error) {
	index, generation, dotted := strings.Cut(s, ".")
	n, err := strconv.ParseUint(index, 10, 32)
	if err == nil && dotted {
		var gen uint64
		if gen, err = strconv.ParseUint(generation, 10, 8); n >= MaxSlots {
			err = ErrNetID
		}
		n = n<<8 | gen
	}
	if err != nil || n == 0 {
		return 0, ErrNetID
	}
	return NetID(n), nil
}

package itr

import "encoding/binary"

// Append writes the trace as a file. Live is not part of the format.
//
//	4  magic              "ITR1"
//	4  tick rate, 4 ticks per snapshot, 4 entities, 4 fields, 4 snapshots     little-endian
//	   per field          1 length of the name, the name, 1 kind, 4 modulus
//	   per snapshot       uvarint changed entities; for each of them uvarint entity - previous - 1,
//	                      uvarint mask of changed fields, and for each uvarint zigzag of new - old
func (t *Trace) Append(dst []byte) []byte {
	dst = append(dst, magic...)
	for _, v := range []int{t.TickRate, t.TicksPerSnapshot, t.Entities, len(t.Fields), len(t.Snapshots)} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	for _, f := range t.Fields {
		dst = append(dst, byte(len(f.Name)))
		dst = append(dst, f.Name...)
		dst = append(dst, byte(f.Kind))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Mod))
	}
	n := len(t.Fields)
	last := make([]int32, t.Entities*n)
	for _, next := range t.Snapshots {
		dst = appendSnapshot(dst, next, last, n)
		last = next
	}
	return dst
}

func appendSnapshot(dst []byte, next, last []int32, fields int) []byte {
	masks, changed := make([]uint64, len(next)/fields), uint64(0)
	for i := range next {
		if next[i] != last[i] {
			if masks[i/fields] == 0 {
				changed++
			}
			masks[i/fields] |= 1 << (i % fields)
		}
	}
	dst = binary.AppendUvarint(dst, changed)
	before := -1
	for e, mask := range masks {
		if mask == 0 {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(e-before-1))
		dst = binary.AppendUvarint(dst, mask)
		for f := range fields {
			if mask>>f&1 != 0 {
				dst = binary.AppendVarint(dst, int64(next[e*fields+f])-int64(last[e*fields+f]))
			}
		}
		before = e
	}
	return dst
}

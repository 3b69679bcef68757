package meter

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// NativeSchema is the resolution of Native: 8 buckets for each power of two, so that a bucket is 9
// % wide. Prometheus calls it by this number, and the bucket with index i is what is above
// 2^((i-1)/8) and at most 2^(i/8).
const NativeSchema = 3

const perOctave = 1 << NativeSchema

// Native keeps a distribution in exponential buckets, those of Prometheus' native histograms. It
// never forgets, and unlike Histogram it has no lock: a record is two atomic additions, and a
// reader only reads. It takes 8 bytes a bucket, 2.3 KB from a nanosecond to a minute; the first of
// its kind takes 3.3 KB more, see Another.
type Native struct {
	*nativeBuckets
	zero   atomic.Uint64
	counts []atomic.Uint64
	sum    atomic.Uint64
}

// nativeBuckets are the buckets of histograms of one unit and range.
type nativeBuckets struct {
	unit   float64 // base units (seconds, bytes) of 1
	lowest int     // index of the bucket of 1
	bounds []int64 // by bucket: the highest value in it
	first  [64 << NativeSchema]uint16
}

// NewNative returns an empty histogram of values from 1 to highest. unit is a value of 1 in base
// units: 1e-9 for nanoseconds that are exported in seconds. A higher value counts as the highest,
// one below 1 has a bucket of its own.
func NewNative(unit float64, highest int64) *Native {
	if !(unit > 0) || highest < 1 {
		panic("meter: native histogram without a unit or a range")
	}
	h := &nativeBuckets{unit: unit, lowest: bucketOf(unit)}
	for i := h.lowest; ; i++ {
		most := math.Exp2(float64(i)/perOctave) / unit
		most += most * 1e-12 // a bound that is a whole number must not fall short of it
		if most >= float64(highest) {
			h.bounds = append(h.bounds, math.MaxInt64)
			break
		}
		h.bounds = append(h.bounds, int64(most))
	}
	i := 0
	for cell := range h.first { // whose least values ascend
		octave, eighth := cell>>NativeSchema, int64(cell&(perOctave-1))
		least := int64(0) // of the values with this cell
		switch {
		case octave == 0:
		case octave > NativeSchema:
			least = (perOctave | eighth) << (octave - 1 - NativeSchema)
		default:
			least = 1 << (octave - 1)
		}
		for h.bounds[i] < least {
			i++
		}
		h.first[cell] = uint16(i)
	}
	return &Native{nativeBuckets: h, counts: make([]atomic.Uint64, len(h.bounds))}
}

// Another returns an empty histogram of the same unit and range as h.
func (h *Native) Another() *Native {
	return &Native{nativeBuckets: h.nativeBuckets, counts: make([]atomic.Uint64, len(h.counts))}
}

// bucketOf is the index of the bucket of x base units.
func bucketOf(x float64) int { return int(math.Ceil(math.Log2(x)*perOctave - 1e-9)) }

// Record adds one value.
func (h *Native) Record(v int64) {
	if v <= 0 {
		h.zero.Add(1)
		return
	}
	octave := bits.Len64(uint64(v))
	eighth := uint64(v)
	if octave > NativeSchema {
		eighth >>= octave - 1 - NativeSchema
	} else {
		eighth = 0
	}
	i := int(h.first[octave<<NativeSchema|int(eighth&(perOctave-1))])
	for v > h.bounds[i] { // at most twice
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(uint64(v))
}

// NativeCount is what a Native held at a time: Counts[i] values in the bucket with index Lowest+i.
type NativeCount struct {
	Lowest int
	Counts []uint64
	Zero   uint64  // values below 1
	Count  uint64  // of all
	Sum    float64 // base units
}

// Read returns what was recorded so far. Count is exactly the sum of the buckets; Sum may be that
// of a few records more.
func (h *Native) Read() NativeCount {
	n := NativeCount{Lowest: h.lowest, Counts: make([]uint64, len(h.counts)), Zero: h.zero.Load()}
	n.Count = n.Zero
	for i := range h.counts {
		n.Counts[i] = h.counts[i].Load()
		n.Count += n.Counts[i]
	}
	n.Sum = float64(h.sum.Load()) * h.unit
	return n
}

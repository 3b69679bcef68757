package huffman

import "math/bits"

// Buckets is the number of symbols that Bucket knows.
const Buckets = 16

// The buckets of the reference game (FPSSample): symbol s stands for the values from bucketStart[s]
// on, and bucketExtra[s] bits say which of them. The last reaches beyond 32 bits, so every value
// has a bucket.
var (
	bucketStart = [Buckets]uint32{0, 1, 2, 4, 8, 16, 32, 96, 352, 1376, 5472, 38240, 300384, 2397536, 19174752, 153392480}
	bucketExtra = [Buckets]uint8{0, 0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 24, 27, 32}
)

// bucketByLen is the bucket of 1<<(n-1) for values of n bits. No power of two holds the start of
// more than one further bucket, so the right one is this or the next.
var bucketByLen = [33]uint8{0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15, 15}

// Bucket splits v into a symbol, which is worth a Huffman code, and nExtra bits, which are too even
// to be worth one.
func Bucket(v uint32) (sym int, extra uint32, nExtra uint) {
	s := bucketByLen[bits.Len32(v)]
	if s < Buckets-1 && v >= bucketStart[s+1] {
		s++
	}
	return int(s), v - bucketStart[s], uint(bucketExtra[s])
}

// BucketRange returns the first value of a symbol's bucket and the number of extra bits: its values
// are first + extra. sym must lie in [0, Buckets).
func BucketRange(sym int) (first uint32, nExtra uint) {
	return bucketStart[sym], uint(bucketExtra[sym])
}

// Zigzag maps small numbers of either sign to small numbers: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
// It is one to one on all 32 bits.
func Zigzag(d int32) uint32 { return uint32(d)<<1 ^ uint32(d>>31) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(z uint32) int32 { return int32(z>>1) ^ -int32(z&1) }

package sim

// draw is a counter-based random number: the same (seed, a, b) always give the same 64 bits, and neighbours share
// nothing. Two rounds of the SplitMix64 finaliser (Steele, Lea and Flood 2014; constants of Stafford's variant 13).
func draw(seed, a, b uint64) uint64 {
	return mix(mix(seed+0x9e3779b97f4a7c15*(a+1)) + 0xd1b54a32d192ed03*(b+1))
}

func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}

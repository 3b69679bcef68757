package tick

// The build fails here on a 32-bit system: the constant is -1, which no uint holds. Counters, column
// sizes and atomic values of the packages above have 64 bits.
const _ = ^uint(0)>>63 - 1

// Package planted holds bugs that are put into the real code on purpose, so that the simulator of
// bench/dst can be asked whether it finds them. Without the build tag planted, On is a constant
// false in the compiler's eyes and nothing of a bug is left in any binary; with the tag, a test
// turns on one bug at a time.
//
//	if planted.On(planted.AckOffByOne) {
//		...
//	}
package planted

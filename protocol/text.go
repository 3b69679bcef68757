package protocol

import (
	"unicode"
	"unicode/utf8"
)

// MaxArenaName is the longest name of an arena, in bytes.
const MaxArenaName = 64

// MaxModeName is the longest name of a mode, in bytes.
const MaxModeName = 64

// ValidText reports whether s is UTF-8 of printable runes only and at most limit bytes long.
// Control characters and those that change the direction of writing (U+202E) are not printable,
// so a name cannot disguise the line of a log. A web page must still escape the text.
func ValidText(s []byte, limit int) bool {
	if len(s) > limit {
		return false
	}
	for len(s) > 0 {
		if c := s[0]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return false
			}
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			return false
		}
		s = s[n:]
	}
	return true
}

package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	MaxText = 256 // bytes of a line with its command, and of the text of a message
	MaxName = 16  // characters of a name
)

// maxMarks is the most combining marks of one letter: more of them climb into the lines above.
const maxMarks = 2

// Clean appends a text as others may see it. Invisible characters and those that turn the direction
// of writing are dropped, runs of spaces of any kind become one space, and both ends are trimmed.
// ok is false if the text is not UTF-8; then nothing is appended. The result is at most as long as
// the text, and Clean does not change it again.
func Clean(dst, text []byte) (clean []byte, ok bool) {
	if !utf8.Valid(text) {
		return dst, false
	}
	begin, marks, space := len(dst), maxMarks, false // no mark without a letter
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case blank(r):
			space, marks = true, maxMarks
		case !visible(r):
		case unicode.Is(unicode.M, r) && marks == maxMarks:
		default:
			if space && len(dst) > begin {
				dst = append(dst, ' ')
			}
			space = false
			if marks++; !unicode.Is(unicode.M, r) {
				marks = 0
			}
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst, true
}

// blank reports whether a rune looks like a space, as the braille pattern without dots does.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\u2800' }

// visible reports whether a rune has a shape. Control characters, characters without width and
// those that turn the direction of writing have none.
func visible(r rune) bool {
	return unicode.IsPrint(r) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// CleanName returns a name as others may see it: a clean text of at most MaxName characters,
// without quotes, as those stand around names. It may be "", and two players may have the same.
func CleanName(name string) string {
	if len(name) > MaxText {
		name = strings.ToValidUTF8(name[:MaxText], "")
	}
	clean, _ := Clean(nil, []byte(strings.ReplaceAll(name, `"`, "")))
	if runes := []rune(string(clean)); len(runes) > MaxName {
		return strings.TrimRight(string(runes[:MaxName]), " ")
	}
	return string(clean)
}

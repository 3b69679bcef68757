package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	MaxText = 256 // bytes of a line as it comes in, its command included; what goes out is never longer
	MaxName = 16  // characters of a name
)

// maxMarks is how many marks one letter may have: more of them climb into the lines above.
const maxMarks = 2

// Clean appends a text as others may see it: what is invisible, or turns the direction of writing, is left out, spaces of any kind and
// number become one, and none stand at the ends. ok is false if the text is no UTF-8; then nothing is appended. The result is no
// longer than the text, and cleaning it again changes nothing.
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

// blank reports whether a rune looks like a space. The braille pattern without dots is one to the eye.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\u2800' }

// visible reports whether a rune has a shape of its own. Control characters, those that turn the direction of writing and those without
// width have none.
func visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// CleanName is a name as others may see it: a clean text of at most MaxName characters, without quotes, which stand around names. It
// may be "". Two players may still have one name.
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

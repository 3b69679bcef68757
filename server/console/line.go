package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tickrate/tickrate/protocol"
)

// Bounds of a line.
const (
	MaxLine  = 1024 // bytes
	MaxWords = 32
	MaxName  = 64 // bytes of a variable's or command's name
)

// Errors of a line that has no words.
var (
	ErrLineLong  = fmt.Errorf("line too long: expected at most %d bytes", MaxLine)
	ErrLineText  = errors.New("line is not printable text: expected UTF-8 without control characters")
	ErrLineWords = fmt.Errorf("too many words: expected at most %d", MaxWords)
	ErrQuoteOpen = errors.New(`quote without an end: expected another "`)
	ErrQuoteWord = errors.New(`quote within a word: expected a space before and after "..."`)
	ErrEscape    = errors.New(`backslash in quotes: expected \" or \\`)
)

// ValidName reports whether a variable or command may have a name: ^[a-z_+-][a-z0-9_+.-]*$, at most
// MaxName bytes.
func ValidName(s string) bool {
	if len(s) == 0 || len(s) > MaxName {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c == '_', c == '+', c == '-':
		case i > 0 && (c >= '0' && c <= '9' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// Split cuts a line into words at spaces and tabs. A word in quotes may have spaces, and \" and \\
// for " and \. A word that starts with // or # starts a comment. Errors are those of the package.
func Split(line string) (words []string, err error) {
	if len(line) > MaxLine {
		return nil, ErrLineLong
	}
	line = strings.ReplaceAll(line, "\t", " ")
	if !protocol.ValidText([]byte(line), MaxLine) {
		return nil, ErrLineText
	}
	for {
		line = strings.TrimLeft(line, " ")
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "//") {
			return words, nil
		}
		if len(words) == MaxWords {
			return nil, ErrLineWords
		}
		var word string
		if line[0] == '"' {
			word, line, err = unquote(line[1:])
		} else {
			word, line, _ = strings.Cut(line, " ")
			if strings.Contains(word, `"`) {
				err = ErrQuoteWord
			}
		}
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
}

// unquote reads the rest of a word after its first quote.
func unquote(line string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			if rest = line[i+1:]; rest != "" && rest[0] != ' ' {
				return "", "", ErrQuoteWord
			}
			return b.String(), rest, nil
		case '\\':
			if i++; i == len(line) || line[i] != '"' && line[i] != '\\' {
				return "", "", ErrEscape
			}
			b.WriteByte(line[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", ErrQuoteOpen
}

// Quote returns a word as Split reads it, in quotes if it needs them.
func Quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \"") && word[0] != '#' && !strings.HasPrefix(word, "//") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// quoteWord quotes a caller's word for an error, cut to 64 bytes.
func quoteWord(word string) string {
	if len(word) > 64 {
		return fmt.Sprintf("%.61q...", word)
	}
	return fmt.Sprintf("%q", word)
}

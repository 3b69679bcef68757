package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spoken is a line, taken apart.
type spoken struct {
	kind  Kind
	reply bool   // to who whispered last
	name  string // of a whisper
	text  string
}

// parse takes a clean line apart.
func parse(line string) (s spoken, why Refusal) {
	s.text = line
	if strings.HasPrefix(line, "/") {
		var command string
		command, s.text, _ = strings.Cut(line, " ")
		switch command {
		case "/all":
		case "/team", "/t":
			s.kind = Team
		case "/whisper", "/w":
			s.kind = Whisper
			if s.name, s.text, why = parseName(s.text); why != RefusedNone {
				return s, why
			}
		case "/reply", "/r":
			s.kind, s.reply = Whisper, true
		default:
			return s, RefusedCommand
		}
	}
	if s.text == "" {
		return s, RefusedEmpty
	}
	return s, RefusedNone
}

// parseName reads a name, in quotes or up to a space, and returns what follows.
func parseName(line string) (name, rest string, why Refusal) {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		name, rest, ok = strings.Cut(quoted, `"`)
		if !ok {
			return "", "", RefusedName
		}
		name, rest = strings.TrimSpace(name), strings.TrimSpace(rest)
	} else {
		name, rest, _ = strings.Cut(line, " ")
	}
	if name == "" {
		return "", "", RefusedName
	}
	return name, rest, RefusedNone
}

// Ways in which a name fits one that was written, each better than those before.
const (
	fitsNot   = iota
	fitsBegin // it begins so, but for upper and lower case
	fitsFold  // it is so, but for them
	fitsExact
	numFits
)

// fit says how well a player's name fits the one that was written.
func fit(name, written string) int {
	if name == written {
		return fitsExact
	}
	for written != "" {
		a, n := utf8.DecodeRuneInString(name)
		b, m := utf8.DecodeRuneInString(written)
		if name == "" || a != b && unicode.ToLower(a) != unicode.ToLower(b) {
			return fitsNot
		}
		name, written = name[n:], written[m:]
	}
	if name == "" {
		return fitsFold
	}
	return fitsBegin
}

// find returns the seat of the player whose name fits best, if it is one; else whether there is none or there are several, and how well
// those fit.
func find(players []Player, written string) (seat, how int, why Refusal) {
	var count, first [numFits]int
	for i := range players {
		if players[i].ID == 0 {
			continue
		}
		f := fit(players[i].Name, written)
		if count[f]++; count[f] == 1 {
			first[f] = i
		}
	}
	for f := fitsExact; f > fitsNot; f-- {
		if count[f] == 1 {
			return first[f], f, RefusedNone
		}
		if count[f] > 1 {
			return -1, f, RefusedAmbiguous
		}
	}
	return -1, fitsNot, RefusedUnknown
}

package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parsed is a line split into command, recipient and text.
type parsed struct {
	kind  Kind
	reply bool   // to the player whose whisper came last
	name  string // of a whisper
	text  string
}

// parse splits a clean line.
func parse(line string) (s parsed, why Refusal) {
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

// How well a player's name matches a written one, each better than the ones before.
const (
	matchNone   = iota
	matchPrefix // starts with it, upper and lower case alike
	matchFold   // equals it, upper and lower case alike
	matchExact
	numMatches
)

// match returns how well a player's name matches a written one.
func match(name, written string) int {
	if name == written {
		return matchExact
	}
	for written != "" {
		a, n := utf8.DecodeRuneInString(name)
		b, m := utf8.DecodeRuneInString(written)
		if name == "" || a != b && unicode.ToLower(a) != unicode.ToLower(b) {
			return matchNone
		}
		name, written = name[n:], written[m:]
	}
	if name == "" {
		return matchFold
	}
	return matchPrefix
}

// find returns the slot of the one player whose name matches best. Otherwise why says whether no
// name matches or several do, and how well those match.
func find(players []Player, written string) (slot, how int, why Refusal) {
	var count, first [numMatches]int
	for i := range players {
		if players[i].ID == 0 {
			continue
		}
		f := match(players[i].Name, written)
		if count[f]++; count[f] == 1 {
			first[f] = i
		}
	}
	for f := matchExact; f > matchNone; f-- {
		if count[f] == 1 {
			return first[f], f, RefusedNone
		}
		if count[f] > 1 {
			return -1, f, RefusedAmbiguous
		}
	}
	return -1, matchNone, RefusedUnknown
}

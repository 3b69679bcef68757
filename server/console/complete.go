package console

import "strings"

// Complete returns what the last word of a line may become, by name, and the line with as much of
// it as they all begin with, and a space if there is but one. It offers only what the caller may
// use.
func (c *Console) Complete(line string, who Caller) (longer string, words []string) {
	cut := strings.LastIndexByte(line, ' ') + 1
	begin, last := line[:cut], line[cut:]
	for _, word := range c.candidates(strings.Fields(begin), who) {
		if strings.HasPrefix(word, last) {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return line, nil
	}
	same := words[0]
	for _, word := range words[1:] {
		n := 0
		for n < min(len(same), len(word)) && same[n] == word[n] {
			n++
		}
		same = same[:n]
	}
	if len(words) == 1 {
		same += " "
	}
	return begin + same, words
}

// candidates are the words that may follow some.
func (c *Console) candidates(before []string, who Caller) (words []string) {
	if len(before) == 0 {
		for _, e := range c.entries {
			if e.visible(who) {
				words = append(words, e.name)
			}
		}
		return words
	}
	of := before[0]
	if len(before) == 1 && (of == "set" || of == "reset" || of == "help") {
		for _, e := range c.entries {
			if (e.v != nil || of == "help") && e.visible(who) {
				words = append(words, e.name)
			}
		}
		return words
	}
	if of == "set" && len(before) == 2 {
		of, before = before[1], before[1:]
	}
	if v := c.Var(of); v != nil && len(before) == 1 && v.readable(who) == nil {
		if v.kind == Bool {
			return []string{"false", "true"}
		}
		return v.choices
	}
	return nil
}

func (e entry) visible(who Caller) bool {
	if e.v != nil {
		return e.v.readable(who) == nil
	}
	return permit(who, e.name, e.command.Flags, e.command.Needs) == nil
}

package slo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// withUnit is a number with a unit of time behind it.
var withUnit = regexp.MustCompile(`\b(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)( ?)(ns|us|µs|μs|ms|s|m|h)\b`)

// millisOf is the length of the units that are not milliseconds, in milliseconds.
var millisOf = map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "s": 1e3, "m": 60e3,
	"h": 3600e3}

// plain blanks the unit of numbers such as 5ms, so that columns stay, and lists where these numbers
// are. Other units are errors.
func plain(text string) (blank string, millis []int, err error) {
	at := 0 // bytes of text that are in out
	var out strings.Builder
	for _, m := range withUnit.FindAllStringSubmatchIndex(text, -1) {
		number, unit := text[m[2]:m[3]], text[m[6]:m[7]]
		column := utf8.RuneCountInString(text[:m[2]])
		if unit != "ms" {
			value, _ := strconv.ParseFloat(number, 64) // the pattern is that of a number
			return "", nil, &Error{text, column + 1, fmt.Sprintf("times are milliseconds: expected %s, got %s",
				strconv.FormatFloat(value*millisOf[unit], 'f', -1, 64), text[m[0]:m[1]])}
		}
		millis = append(millis, column)
		out.WriteString(text[at:m[6]] + "  ")
		at = m[7]
	}
	out.WriteString(text[at:])
	return out.String(), millis, nil
}

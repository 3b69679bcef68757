package impair

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// minRate is the least rate in bytes a second.
const minRate = 1000

// errUnit is the error of a size or a rate that does not parse.
var errUnit = errors.New("impair: not a number with a unit")

// prefixes of units, the largest first. They are powers of ten, as tc has them for rates.
var prefixes = []struct {
	letter string
	times  float64
}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}}

// parseRate reads bits a second, such as 512kbit or 1.5Mbit, or bytes a second, such as 64kB. The
// result is in bytes. A number without a unit could be either: it is an error.
func parseRate(text string) (int, error) {
	if number, ok := strings.CutSuffix(text, "bit"); ok {
		return parseUnit(number, 1./8)
	}
	return parseBytes(text)
}

// parseBytes reads bytes, such as 1500B, 64kB or 1.5MB.
func parseBytes(text string) (int, error) {
	number, ok := strings.CutSuffix(text, "B")
	if !ok {
		return 0, errUnit
	}
	return parseUnit(number, 1)
}

// parseUnit reads a number with a prefix or without, in units of some bytes.
func parseUnit(text string, bytes float64) (int, error) {
	for _, p := range prefixes {
		number, ok := strings.CutSuffix(text, p.letter)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if v *= p.times * bytes; err != nil || !(v >= 0 && v <= 1e15) {
			return 0, errUnit
		}
		return int(math.Round(v)), nil
	}
	return 0, errUnit
}

// formatRate returns the text that parseRate reads as n bytes a second.
func formatRate(n int) string { return formatUnit(8*n, "bit") }

// formatBytes returns the text that parseBytes reads as n.
func formatBytes(n int) string { return formatUnit(n, "B") }

// formatUnit writes n with the largest prefix that leaves at most one digit after the point.
func formatUnit(n int, unit string) string {
	for _, p := range prefixes {
		if times := int(p.times); n >= times && n%max(times/10, 1) == 0 {
			return strconv.FormatFloat(float64(n)/p.times, 'f', -1, 64) + p.letter + unit
		}
	}
	return strconv.Itoa(n) + unit
}

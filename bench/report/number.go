package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// count writes a whole number with thousands separators: 12,345.
func count[T ~int | ~uint64](n T) string { return separate(strconv.FormatInt(int64(n), 10)) }

// number writes x with about three significant digits and thousands separators: 0.034, 2.10, 14.2, 1,240.
func number(x float64) string {
	digits := 2
	switch size := math.Abs(x); {
	case size >= 99.95:
		digits = 0
	case size >= 9.995:
		digits = 1
	case size == 0:
		digits = 0
	case size < 0.0995:
		digits = min(6, 2-int(math.Floor(math.Log10(size))))
	}
	return separate(strconv.FormatFloat(x, 'f', digits, 64))
}

func separate(s string) string {
	sign, digits := "", s
	if strings.HasPrefix(s, "-") {
		sign, digits = "-", s[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "unknown"
	case d < time.Minute:
		return number(d.Seconds()) + " s"
	default:
		return strconv.Itoa(int(d.Minutes())) + " min " + strconv.Itoa(int(d.Seconds())%60) + " s"
	}
}

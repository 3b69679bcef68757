package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// count writes a whole number with thousands separators: 12,345.
func count[T ~int | ~uint64](n T) string { return separate(strconv.FormatInt(int64(n), 10)) }

// number writes x with about three significant digits, at most two after the point, and thousands
// separators: 0.03, 2.10, 14.2, 1,240. Columns of it line up.
func number(x float64) string { return separate(strconv.FormatFloat(x, 'f', places(x), 64)) }

// significant is number for coefficients, where small ones matter: 0.00213.
func significant(x float64) string {
	if size := math.Abs(x); size > 0 && size < 0.0995 {
		return strconv.FormatFloat(x, 'f', min(6, 2-int(math.Floor(math.Log10(size)))), 64)
	}
	return number(x)
}

// places is the number of digits after the point that number shows.
func places(x float64) int {
	switch size := math.Abs(x); {
	case size == 0 || size >= 99.95:
		return 0
	case size >= 9.995:
		return 1
	default:
		return 2
	}
}

// separate puts commas between thousands.
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

// span writes a duration in minutes and seconds.
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

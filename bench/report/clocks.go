package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"time"
)

// Clocks is what a client's three clocks showed at an instant of the server's own.
type Clocks struct {
	At                        time.Duration // the server's true clock
	Server, Predicted, Render time.Duration // the client's estimate, its commands, its view
	RTT                       time.Duration // the link's true round trip
}

// The figure, in pixels: the frame that lines are drawn in, within the whole.
const (
	clocksWidth, clocksHeight = 680, 340
	clocksLeft, clocksTop     = 60, 70
	clocksRight, clocksBottom = 20, 45
)

// WriteClocks draws clocks over time as an SVG: how far each is ahead of the server's true clock,
// and the round trip. It expects two samples or more.
func WriteClocks(w io.Writer, title string, samples []Clocks) error {
	if len(samples) < 2 {
		return fmt.Errorf("clocks: %d samples: expected 2 or more", len(samples))
	}
	lines := []struct {
		name, color, dash string
		value             func(c *Clocks) time.Duration
	}{
		{"predicted (commands)", "#d55e00", "", func(c *Clocks) time.Duration { return c.Predicted - c.At }},
		{"round trip", "#999999", "4 3", func(c *Clocks) time.Duration { return c.RTT }},
		{"server (as estimated)", "#009e73", "", func(c *Clocks) time.Duration { return c.Server - c.At }},
		{"render (view)", "#0072b2", "", func(c *Clocks) time.Duration { return c.Render - c.At }},
	}
	x := axis{samples[0].At.Seconds(), samples[len(samples)-1].At.Seconds(), clocksLeft,
		clocksWidth - clocksRight}
	y := axis{math.Inf(1), math.Inf(-1), clocksHeight - clocksBottom, clocksTop}
	for i := range samples {
		for _, l := range lines {
			v := millis(l.value(&samples[i]))
			y.low, y.high = min(y.low, v), max(y.high, v)
		}
	}
	var out bytes.Buffer
	drawClockAxes(&out, title, x, y)
	for i, l := range lines {
		fmt.Fprintf(&out, `<path fill="none" stroke="%s" stroke-width="1.5" stroke-dasharray="%s" d="`,
			l.color, l.dash)
		for k := range samples {
			command := "L"
			if k == 0 {
				command = "M"
			}
			fmt.Fprintf(&out, "%s%.1f %.1f", command, x.at(samples[k].At.Seconds()),
				y.at(millis(l.value(&samples[k]))))
		}
		fmt.Fprintf(&out, `"/><text x="%d" y="38" fill="%s">%s</text>`+"\n", clocksLeft+150*i, l.color,
			l.name)
	}
	out.WriteString("</svg>\n")
	_, err := w.Write(out.Bytes())
	return err
}

// drawClockAxes draws the head of the SVG, the title, the grid with its numbers and the axes'
// names.
func drawClockAxes(out *bytes.Buffer, title string, x, y axis) {
	const bottom, right = clocksHeight - clocksBottom, clocksWidth - clocksRight
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`font-family="Arial,Helvetica,sans-serif" font-size="11">`+"\n", clocksWidth, clocksHeight)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	fmt.Fprintf(out, `<text x="%d" y="20" font-size="13">%s</text>`+"\n",
		clocksLeft, html.EscapeString(title))
	for _, v := range x.ticks() {
		fmt.Fprintf(out, `<path d="M%.1f %dV%d" stroke="#ddd"/>`, x.at(v), clocksTop, bottom)
		fmt.Fprintf(out, `<text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", x.at(v), bottom+15, v)
	}
	for _, v := range y.ticks() {
		fmt.Fprintf(out, `<path d="M%d %.1fH%d" stroke="#ddd"/>`, clocksLeft, y.at(v), right)
		fmt.Fprintf(out, `<text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", clocksLeft-5, y.at(v)+4, v)
	}
	fmt.Fprintf(out, `<text x="%d" y="%d">server time, seconds</text>`, clocksLeft, clocksHeight-8)
	fmt.Fprintf(out, `<text x="%d" y="%d">ms ahead of the server's clock</text>`+"\n",
		clocksLeft, clocksTop-8)
}

// millis is d in milliseconds.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// axis maps values between low and high to pixels.
type axis struct {
	low, high float64 // values, in their own unit
	from, to  float64 // pixels of low and of high; to is the smaller one on a vertical axis
}

// at is the pixel of a value.
func (a axis) at(v float64) float64 {
	return a.from + (a.to-a.from)*(v-a.low)/max(a.high-a.low, 1e-9)
}

// ticks are round values between low and high, six at most.
func (a axis) ticks() (all []float64) {
	step := math.Pow(10, math.Ceil(math.Log10(max(a.high-a.low, 1e-9)/5)))
	for _, finer := range []float64{5, 2} {
		if (a.high-a.low)/(step/finer) <= 5 {
			step /= finer
			break
		}
	}
	for k := math.Ceil(a.low / step); k*step <= a.high; k++ {
		all = append(all, k*step)
	}
	return all
}

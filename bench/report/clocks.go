package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Clocks is what a client's three clocks showed at an instant of the server's own.
type Clocks struct {
	At                        time.Duration // the server's clock
	Server, Predicted, Render time.Duration
	RTT                       time.Duration // as it really was
}

// WriteClocks draws clocks over time as an SVG: how far each was ahead of the server's true clock, and the round trip. It wants two samples
// or more.
func WriteClocks(w io.Writer, title string, samples []Clocks) error {
	if len(samples) < 2 {
		return fmt.Errorf("clocks: %d samples: expected 2 or more", len(samples))
	}
	p := plot.New()
	for _, text := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		text.Variant, text.Size = "Sans", 8.5
	}
	p.Title.Text = title
	p.X.Label.Text = "server time, seconds"
	p.Y.Label.Text = "ahead of the server's clock, ms"
	p.Legend.Top, p.Legend.XOffs, p.Legend.YOffs = true, -40, -6
	p.Add(plotter.NewGrid())
	for _, line := range []struct {
		name  string
		value func(*Clocks) time.Duration
		color color.RGBA
		dash  []vg.Length
	}{
		{"predicted (commands)", func(c *Clocks) time.Duration { return c.Predicted - c.At }, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, nil},
		{"round trip", func(c *Clocks) time.Duration { return c.RTT }, color.RGBA{0x99, 0x99, 0x99, 0xff}, []vg.Length{4, 3}},
		{"server (as estimated)", func(c *Clocks) time.Duration { return c.Server - c.At }, color.RGBA{0x00, 0x9e, 0x73, 0xff}, nil},
		{"render (looked at)", func(c *Clocks) time.Duration { return c.Render - c.At }, color.RGBA{0x00, 0x72, 0xb2, 0xff}, nil},
	} {
		xy := make(plotter.XYs, len(samples))
		for i := range samples {
			xy[i] = plotter.XY{X: samples[i].At.Seconds(), Y: float64(line.value(&samples[i])) / float64(time.Millisecond)}
		}
		l, err := plotter.NewLine(xy)
		if err != nil {
			return fmt.Errorf("clocks: %s: %w", line.name, err)
		}
		l.Color, l.Width, l.Dashes = line.color, vg.Points(1.5), line.dash
		p.Add(l)
		p.Legend.Add(line.name+"       ", l) // room for fonts that are wider than ours
	}
	p.Y.Max *= 1.45 // room for the legend
	canvas := vgsvg.New(18*vg.Centimeter, 9*vg.Centimeter)
	canvas.SetColor(color.White)
	canvas.Fill(vg.Rectangle{Max: vg.Point{X: 18 * vg.Centimeter, Y: 9 * vg.Centimeter}}.Path())
	p.Draw(draw.New(canvas))
	var drawn bytes.Buffer
	if _, err := canvas.WriteTo(&drawn); err != nil {
		return err
	}
	// The metrics are Liberation's, which are Arial's; where neither is, text should at least have no serifs.
	_, err := w.Write(bytes.ReplaceAll(drawn.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")))
	return err
}

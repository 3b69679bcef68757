// Package plot holds what our pages draw with: uPlot, unchanged; the lines of script that tell it how our charts look and how
// they are read by keyboard; and the style sheet that the pages share. They are text, to be written into a page that opens from
// disk, or served beside one.
package plot

import "embed"

//go:embed README.md uPlot.LICENSE uPlot.iife.min.js uPlot.min.css plot.js page.css
var files embed.FS

// Script is uPlot, which defines uPlot, and then our own lines, which define Plot.
func Script() string { return read("uPlot.iife.min.js") + "\n" + read("plot.js") }

// Style is the style sheet of uPlot and then that of our pages, in light and dark.
func Style() string { return read("uPlot.min.css") + "\n" + read("page.css") }

func read(name string) string {
	content, err := files.ReadFile(name)
	if err != nil {
		panic("plot: " + err.Error()) // embedded at build time
	}
	return string(content)
}

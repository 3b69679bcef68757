// Package webplot holds the charts of the report and of the live page: uPlot, unchanged; our
// script, which defines how charts look and how the keyboard reads them; and the style sheet of the
// pages. They are text, written into a page that opens from disk, or served with one.
package webplot

import "embed"

//go:embed README.md uPlot.LICENSE uPlot.iife.min.js uPlot.min.css plot.js page.css
var files embed.FS

// Script is uPlot, which defines uPlot, and then our own script, which defines Plot.
func Script() string { return read("uPlot.iife.min.js") + "\n" + read("plot.js") }

// Style is the style sheet of uPlot, then that of our pages, light and dark.
func Style() string { return read("uPlot.min.css") + "\n" + read("page.css") }

func read(name string) string {
	content, err := files.ReadFile(name)
	if err != nil {
		panic("webplot: " + err.Error()) // embedded at build time
	}
	return string(content)
}

package capacity

import (
	"math"
	"slices"
)

// What package server calls the codecs that laws know (see byHuffman and stale).
const (
	rangeCodec  = "range"
	storedCodec = "stored"
)

// Codecs are the ways to code snapshots, each played in the same lobby: what one saves in bytes and costs in time.
type Codecs struct {
	Players int     `json:"players"`
	Seconds float64 `json:"seconds"` // virtual ones that were measured, after everybody was in
	Each    []Codec `json:"each"`    // the one that the plan's servers used first
}

// Codec is one of them.
type Codec struct {
	Name           string  `json:"name"`
	BytesPerSecond float64 `json:"bytes_per_second"` // to each client, in datagrams as they leave
	TickMicros     float64 `json:"tick_us"`          // mean CPU time of a tick, without system calls
}

// Against is what c takes of what the first codec takes, in percent of its bytes and of its time.
func (c Codecs) Against(i int) (bytes, time float64) {
	first, this := c.Each[0], c.Each[i]
	return 100 * this.BytesPerSecond / first.BytesPerSecond, 100 * this.TickMicros / first.TickMicros
}

// coderRows is what the rows of another codec may follow from: those of the main one, and how many rows and blocks there are.
func (m *Model) coderRows() []feature {
	return []feature{
		{"bytes", func(f Facts) float64 { return m.Parts[rowsPart].at(f, partLaws[rowsPart].features) }},
		{"rows", func(f Facts) float64 { return f.Visible + 1 }},
		{"blocks", func(f Facts) float64 { return math.Ceil(float64(f.PerLobby) / groupRows) }},
	}
}

// chooses are the parts of the law of CodingStage that are of finding out what is told to whom, whatever codes it.
var chooses = []string{"clients", "told", "told·cold", "told (chosen)", "told·V (hidden)", "told·V (chosen)", "told·V", "flights (newcomers)",
	"comings·told·N", "comings", "comings·N", "shots"}

// snapshots is what the main codec takes in CodingStage, of some parts of its law alone if those are named.
func (m *Model) snapshots(f Facts, parts ...string) float64 {
	for _, l := range m.Stages {
		if l.Name != CodingStage {
			continue
		}
		if parts != nil {
			all := l.Parts
			l.Parts = nil
			for _, p := range all {
				if slices.Contains(parts, p.Of) {
					l.Parts = append(l.Parts, p)
				}
			}
		}
		return l.at(f, featuresOf(CodingStage))
	}
	return 0
}

// coderTimes is what the time of another codec may follow from.
func (m *Model) coderTimes() []feature {
	return []feature{
		{"µs", func(f Facts) float64 { return m.snapshots(f) }},
		{"rows coded", codedRows},
		{"kB", kilobytes},
		{"told·V (chosen)", pairsRuled},
		{"µs to choose", func(f Facts) float64 { return m.snapshots(f, chooses...) }},
	}
}

// coded is what a codec takes in place of what the main one takes, where some of it is in Huffman's bits all the same: that share of it, 0 to 1 (see byHuffman).
func coded(f Facts, main, huffman float64, law Law, features []feature) float64 {
	if len(law.Parts) == 0 {
		return main
	}
	return huffman*main + (1-huffman)*law.at(f, features)
}

// byHuffman is the share of what clients are told by a codec that is told them row by row. Range codes shared blocks alone: rows that are chosen for one client are in Huffman's
// bits (package snapshot).
func byHuffman(f Facts) float64 {
	if f.Codec == rangeCodec {
		return ruled(f)
	}
	return 0
}

// ticksByHuffman is the share of ticks in which all that is told is told row by row. One client that is told of blocks makes a tick code them.
func ticksByHuffman(f Facts) float64 { return math.Pow(byHuffman(f), told(f)) }

// mostByHuffman is the most of byHuffman that lessons may have which a codec's laws are learned from: the others tell of Huffman's.
const mostByHuffman = 0.5

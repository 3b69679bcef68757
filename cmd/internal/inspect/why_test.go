package inspect

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/server"
)

// Entities that were not sent come first, in order of distance.
func TestPrintExplanations(t *testing.T) {
	var out strings.Builder
	if err := printExplanations(&out, []server.Explanation{
		{Client: 9, Entity: 9, Reason: server.ReasonSent, Tick: 30}, {Client: 9,
			Object: "barrel:1", Reason: server.ReasonRange, Text: "out of range", Metres: 40, Tick: 30},
		{Client: 9, Entity: 12, Reason: server.ReasonOccluded, Text: "walls",
			Metres: 7, Tick: 30}}); err != nil {
		t.Fatal(err)
	}
	const want = "client 9, by the snapshot of tick 30, 0 ticks ago\n\nentity    metres  reason\n12    " +
		"    7       occluded: walls\nbarrel:1  40      range: out of range\n9         0       sent: \n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/sim/netstate"
)

// All codecs are played, the plan's own first, and what they take stands in the order that they are for.
func TestCompareCodecs(t *testing.T) {
	f, err := planFlags{rate: 30, seed: 3, codec: "range", relevance: "auto", maps: "gen", start: 1, max: 64, share: 0.6, socket: "gnet"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	all, err := compareCodecs(context.Background(), f, netstate.Trained())
	if err != nil {
		t.Fatal(err)
	}
	bytes := map[string]float64{}
	for _, c := range all.Each {
		bytes[c.Name] = c.BytesPerSecond
		if c.TickMicros <= 0 {
			t.Errorf("%+v", c)
		}
	}
	if len(all.Each) != 3 || all.Each[0].Name != "range" || !(0 < bytes["range"] && bytes["range"] < bytes["huffman"] && 2*bytes["huffman"] < bytes["stored"]) {
		t.Errorf("%+v", all.Each)
	}
	var out strings.Builder
	printCodecs(&out, all)
	if lines := strings.Count(out.String(), "\n"); lines != 4 || !strings.Contains(out.String(), "100.0 %") {
		t.Errorf("%s", out.String())
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if all, err := compareCodecs(stopped, f, netstate.Trained()); all != nil || err != nil {
		t.Errorf("interrupted: %+v, %v", all, err)
	}
}

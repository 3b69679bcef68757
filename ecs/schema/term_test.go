package schema_test

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

// TestTermsAreLearned: a field that follows from another, and one that coasts, get the terms that
// say so; a field that follows from nothing has none. They survive the model's file.
func TestTermsAreLearned(t *testing.T) {
	n, seed := schema.NewCounts(player), uint32(1)
	random := func(most int32) int32 {
		seed = seed*1664525 + 1013904223
		return int32(seed>>8)%(2*most+1) - most
	}
	for range 20000 {
		var row schema.Row
		for f := range player.Fields {
			row.Signals[f], row.Trends[f], row.Moves[f] = 9, random(200), random(200)
		}
		row.Moves[1] = row.Moves[0]/2 + random(2)
		row.Moves[2] = -row.Trends[2]/4 + random(2)
		row.Errors = row.Moves
		n.Row(&row)
	}
	m := schema.Train(player, n)
	again, err := schema.ParseModel(m.Append(nil), player)
	if err != nil || again.Hash() != m.Hash() {
		t.Fatal(err)
	}
	near := func(terms []schema.Term, want schema.Term) bool {
		return len(terms) == 1 && terms[0].Field == want.Field && terms[0].Trend == want.Trend &&
			max(terms[0].Weight-want.Weight, want.Weight-terms[0].Weight) < 16
	}
	c := again.Coders()
	if len(c[0].Terms()) != 0 || len(c[3].Terms()) != 0 {
		t.Errorf("terms of what follows from nothing: %v, %v", c[0].Terms(), c[3].Terms())
	}
	if !near(c[1].Terms(), schema.Term{Field: 0, Weight: 512}) {
		t.Errorf("half of a move: %v", c[1].Terms())
	}
	if !near(c[2].Terms(), schema.Term{Field: 2, Trend: true, Weight: -256}) {
		t.Errorf("a quarter of a trend, backwards: %v", c[2].Terms())
	}
	spacing := schema.MakeBaselineSpacing(4, 2, 0)
	if got := c[0].Trend(&spacing, 7, 4); got != 6 {
		t.Errorf("trend of 3 in half the time: %d", got)
	}
	if got := c[0].Correct(10, 1024*3+511); got != 13 {
		t.Errorf("10 corrected by 3 and less than a half: %d", got)
	}
}

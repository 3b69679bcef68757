//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Sides take turns: all sides at all sizes once before any of them again.
func TestAlternation(t *testing.T) {
	p := &plan{turns: 2, sizes: []int{16, 32}, only: "DDNet"}
	var order []string
	r := newReport(p)
	err := p.play(t.Context(), &strings.Builder{}, r, func(_ context.Context, s side, n int) (figures, error) {
		order = append(order, fmt.Sprint(s.label(), " ", n))
		return figures{Cores: float64(len(order))}, nil
	})
	if want := []string{"DDNet 50/25 16", "DDNet 50/25 32", "DDNet 50/25 16", "DDNet 50/25 32"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("%q, %v", order, err)
	}
	if len(r.Rows) != 2 || len(r.Rows[0].Turns) != 2 || r.Rows[0].Turns[1].Cores != 3 || r.Repeats != 0 {
		t.Errorf("%d rows, %+v", len(r.Rows), r.Rows[0])
	}
}

// A void turn is repeated once. What is void again is in the report as such, and in no median.
func TestVoidTurns(t *testing.T) {
	for _, c := range []struct {
		void    string // of each measurement in its order: v is void
		valid   int
		turns   int
		repeats int
	}{
		{"...", 3, 3, 0}, {"v...", 3, 3, 1}, {".vv.", 2, 3, 1}, {"v.v.v.", 3, 3, 3}, {"vvvvvv", 0, 3, 3},
	} {
		p := &plan{turns: 3, sizes: []int{16}, only: "DDNet"}
		r, i, said := newReport(p), 0, &strings.Builder{}
		err := p.play(t.Context(), said, r, func(context.Context, side, int) (f figures, err error) {
			f.Cores = 0.5
			if c.void[i] == 'v' {
				f.Cores, f.Void = 0.1, "the swarm slept"
			}
			i++
			return f, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows[0]
		if i != len(c.void) || len(row.valid()) != c.valid || len(row.Turns) != c.turns || r.Repeats != c.repeats {
			t.Errorf("%s: %d measured, %d valid of %d, %d repeats", c.void, i, len(row.valid()), len(row.Turns), r.Repeats)
		}
		for _, f := range row.valid() {
			if f.Cores != 0.5 {
				t.Errorf("%s: a void turn counts", c.void)
			}
		}
		if got, want := r.missing() > 0, c.valid == 0; got != want {
			t.Errorf("%s: figures are missing: %v", c.void, got)
		}
		if got, want := strings.Count(said.String(), "the swarm slept"), strings.Count(c.void, "v"); got != want {
			t.Errorf("%s: %d of %d void turns are told of:\n%s", c.void, got, want, said)
		}
	}
}

// An error or an interrupt ends the turns at once.
func TestFailedTurn(t *testing.T) {
	p, broken, n := &plan{turns: 3, sizes: []int{16}}, errors.New("no such map"), 0
	measure := func(context.Context, side, int) (figures, error) { n++; return figures{}, broken }
	err := p.play(t.Context(), &strings.Builder{}, newReport(p), measure)
	if !errors.Is(err, broken) || n != 1 || !strings.Contains(err.Error(), "OpenArena 20/20 with 16 players") {
		t.Errorf("%v after %d", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.play(ctx, &strings.Builder{}, newReport(p), measure); !errors.Is(err, context.Canceled) || n != 2 {
		t.Errorf("%v after %d", err, n)
	}
}

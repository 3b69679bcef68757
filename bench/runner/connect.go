package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/hugepage"
)

// Connect runs a swarm until all its clients have joined or the server has refused one, or all others
// where the swarm plays on without it: for 15 s after the last one begins to connect at most, or 3 s
// if no server answers.
func Connect(ctx context.Context, s *swarm.Swarm, clients int, arrival time.Duration) error {
	begin := time.Now()
	silent := func() bool { return s.Figures.DatagramsDown == 0 && time.Since(begin) > 3*time.Second }
	joined, refused := 0, 0
	err := s.Run(ctx, 15*time.Second+arrival, func() bool {
		joined, refused = s.Settled()
		return joined+refused == clients || s.Err() != nil || silent()
	})
	joined, refused = s.Settled()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case silent():
		return errors.New("no answer within 3 s")
	case joined == 0 && refused > 0:
		return fmt.Errorf("the server refused every client: %w", s.WhyRefused())
	case joined == 0:
		return errors.New("the server answers, but no client joined a match within 15 s " +
			"(with --echo there is none)")
	case joined+refused < clients:
		return fmt.Errorf("%d of %d clients joined within 15 s", joined, clients)
	}
	return nil
}

// EnlargePages runs a swarm while the memory of its clients moves into pages of 2 MiB.
func EnlargePages(ctx context.Context, s *swarm.Swarm) error {
	var done atomic.Bool
	go func() {
		hugepage.CollapseHeap(ctx, hugepage.Pause)
		done.Store(true)
	}()
	return s.Run(ctx, time.Minute, done.Load)
}

// Settings are all keys of a scenario with their values, for reports.
func Settings(s scenario.Scenario) (all []measure.Setting) {
	text, err := s.Text()
	if err != nil {
		return nil // a scenario holds nothing that TOML does not
	}
	table := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			table = strings.Trim(line, "[]") + "."
		} else if key, value, ok := strings.Cut(line, " = "); ok {
			all = append(all, measure.Setting{Name: table + key, Value: strings.Trim(value, "'\"")})
		}
	}
	return all
}

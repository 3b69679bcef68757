package main

import (
	"context"
	"fmt"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/netio/impair"
)

// unmeasured says what of a scenario no measurement tells of, so that nothing is predicted of it; nil if there is no such thing. What was
// measured, but less far, a prediction says itself.
func unmeasured(sc scenario.Scenario) error {
	rows := func(what, known string) error {
		return fmt.Errorf("%s: expected %s, of which there are measurements; plan without --predict runs it", what, known)
	}
	grid := sc.Lobby.FarMetres > 0 || sc.Lobby.Map == "town"
	p, err := impair.ParseProfile(sc.Network.Link)
	switch {
	case err != nil:
		return err
	case len(sc.Play.Traces) > 0:
		return rows("play.traces", "generated play")
	case sc.Lobby.Mode != "deathmatch":
		return rows(fmt.Sprintf("lobby.mode %q", sc.Lobby.Mode), "deathmatch")
	case sc.Lobby.Relevance == "grid" && !grid, (sc.Lobby.Relevance == "all" || sc.Lobby.Relevance == "off") && grid:
		return rows(fmt.Sprintf("lobby.relevance %q", sc.Lobby.Relevance), `"auto"`)
	case p.Rate > 0 || p.Blackhole > 0 || p.Burst > 0:
		return rows(fmt.Sprintf("network.link %q", sc.Network.Link), "links that delay, lose, double or reorder datagrams, without a rate, bursts or blackholes")
	}
	return nil
}

// predictable are the facts of a scenario that a model predicts from, or why it does not. Nothing is played for them.
func predictable(m *capacity.Model, sc scenario.Scenario) (capacity.Facts, error) {
	if err := unmeasured(sc); err != nil {
		return capacity.Facts{}, err
	}
	f := asked(sc)
	_, err := m.Predict(f)
	return f, err
}

// predicted plays matches of a scenario and predicts it. Its error is of use where measurements tell nothing of it; from is what to call them.
func predicted(ctx context.Context, m *capacity.Model, sc scenario.Scenario, from string) (p capacity.Prediction, err error) {
	f, err := predictable(m, sc)
	if err != nil {
		return p, badUse(fmt.Errorf("%s: %w", from, err))
	}
	if f.Played, err = playedOf(ctx, sc, opening); err != nil {
		return p, err
	}
	if p, err = m.Predict(f); err != nil {
		return p, err
	}
	f.LongRun = true
	if f.Played, err = playedOf(ctx, sc, longRun); err != nil {
		return p, err
	}
	late, err := m.Predict(f)
	p.LongRun = &late
	return p, err
}

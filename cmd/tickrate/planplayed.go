package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

// Matches are played until what they leave unsure of the bytes is playedSure, or so many ticks of a player have been played: 0.7 microseconds each, on all
// processors. In a town what houses hide takes as long as so many ticks for each player that the ground is made for.
const (
	playedSure  = 0.003
	playedTown  = 250
	playedBatch = 16
	playedEnd   = 1000 // matches: no more than a lesson has seeds
	playedSeed  = 8 * heldSeed
)

// Less in short tests.
var (
	playedMost = 14_000_000
	playedLong = 2 * playedBatch // matches that are played to their long run, at least
)

var playedKnown sync.Map // capacity.Played by scenario

// playedOf is what players come to do in a window of matches of a scenario by themselves. They are on the maps that the scenario names, as its matches are: the k-th on that
// of its seed and k, as a good part of what matches differ by are their maps. Their dice are their own: no match is played that was measured.
func playedOf(ctx context.Context, s scenario.Scenario, w window) (capacity.Played, error) {
	s.Name, s.About, s.Network.Codec = "", "", scenario.Default().Network.Codec
	s.Lobby.Lobbies, s.Lobby.Most = 1, 0
	settle(&s, w)
	key := fmt.Sprintf("%+v", s)
	if known, ok := playedKnown.Load(key); ok {
		return known.(capacity.Played), nil
	}
	p, err := playAll(ctx, s, playedSeed+seedOf(key, false), mostPlayed(s))
	if err == nil {
		playedKnown.Store(key, p)
	}
	return p, err
}

// place is where a match of a scenario is played.
type place struct {
	arena *arena.Arena
	game  *sim.Game
	walls bool // houses hide who is behind them
}

// openPlace makes the map that a scenario names; pack is what a lobby's content is, read once for all maps.
func openPlace(s scenario.Scenario, pack *content.Pack) (p place, err error) {
	name := fmt.Sprintf("%s:%d:%d", s.Lobby.Map, s.Ground(s.Lobby.Players), s.Play.Seed)
	if p.arena, err = openArena(name); err != nil {
		return p, err
	}
	p.game, err = sim.GameOn(pack, name, s.Lobby.Mode)
	p.walls = s.Lobby.Map == "town"
	return p, err
}

// mostPlayed bounds how many matches of a scenario are played.
func mostPlayed(s scenario.Scenario) int {
	all, each := playedMost, int((s.Measure.Seconds+s.Measure.WarmSeconds)*float64(s.Rates.TickHz))*s.Lobby.Players
	if s.Lobby.Map == "town" {
		each += playedTown * s.Ground(s.Lobby.Players)
	}
	least := 2 * playedBatch
	if windowOf(s) == longRun {
		least = playedLong
	}
	return min(max(all/each, least), playedEnd)
}

// playAll plays matches, at most so many, with the dice of a seed and the next ones.
func playAll(ctx context.Context, s scenario.Scenario, dice uint64, most int) (p capacity.Played, err error) {
	pack, err := openContent("")
	if err != nil {
		return p, err
	}
	facts := asked(s)
	var parts []capacity.Facts
	for played := 0; played < most && (played < 2*playedBatch || !(p.Unsure.Bytes(p.Alive) < playedSure)); {
		all := make([]match, min(playedBatch, most-played))
		errs := make([]error, len(all))
		sideBySide(len(all), func(i int) {
			k := uint64(played + i)
			all[i], errs[i] = playOn(ctx, s, pack, s.Play.Seed+k, dice+k)
		})
		if ctx.Err() != nil { // a part of them would say less, and not that it does
			return capacity.Played{}, ctx.Err()
		}
		if err := errors.Join(errs...); err != nil {
			return capacity.Played{}, err
		}
		for i := range all {
			var one tale
			one.add(all[i])
			parts = append(parts, one.facts(facts))
		}
		played += len(all)
		p = capacity.NewPlayed(played, parts)
		p.Ground = s.Play.Seed
	}
	return p, nil
}

// playOn plays one match on the map of a seed, with the dice of another.
func playOn(ctx context.Context, s scenario.Scenario, pack *content.Pack, ground, dice uint64) (match, error) {
	if ctx.Err() != nil {
		return match{}, ctx.Err()
	}
	s.Play.Seed = ground
	at, err := openPlace(s, pack)
	if err != nil {
		return match{}, err
	}
	s.Play.Seed = dice
	return playSolo(ctx, s, at)
}

// playSolo plays one match.
func playSolo(ctx context.Context, s scenario.Scenario, at place) (match, error) {
	p, err := newSolo(s, at)
	if err != nil {
		return match{}, err
	}
	return p.play(ctx, s)
}

// play plays it to its end and counts, unless ctx ends.
func (p *solo) play(ctx context.Context, s scenario.Scenario) (match, error) {
	hz := float64(s.Rates.TickHz)
	for range int(s.Measure.WarmSeconds * hz) {
		p.step()
	}
	p.told.ticks = int(math.Round(s.Measure.Seconds * hz))
	for i := range p.told.ticks {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return match{}, ctx.Err()
		}
		p.step()
		p.count(i)
	}
	p.told.counts[metrics.BytesOut] = 1 // nothing is sent: matches weigh alike
	return p.told, nil
}

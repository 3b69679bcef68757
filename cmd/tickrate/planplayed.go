package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/sight"
)

// Matches are played until what they leave unsure of the bytes is playedSure, or so many ticks of a player have been played: about a microsecond each, on
// all processors. A town's table of sight takes longer than a match, so some matches share a town.
const (
	playedSure  = 0.004
	playedMost  = 2_000_000
	playedBatch = 16
	playedEnd   = 400  // matches
	playedTowns = 1600 // players for whom all towns together are made
	playedSeed  = 8 * heldSeed
)

var playedKnown sync.Map // capacity.Played by scenario

// playedOf is what players come to do in matches of a scenario by themselves. Their seeds are their own, whatever the scenario's is.
func playedOf(ctx context.Context, s scenario.Scenario) (capacity.Played, error) {
	s.Name, s.About, s.Play.Seed, s.Network.Codec = "", "", 0, scenario.Default().Network.Codec
	s.Lobby.Lobbies, s.Lobby.Most, s.Measure = 1, 0, scenario.Measure{Seconds: matchSeconds}
	settle(&s)
	key := fmt.Sprintf("%+v", s)
	if known, ok := playedKnown.Load(key); ok {
		return known.(capacity.Played), nil
	}
	s.Play.Seed = playedSeed + seedOf(key, false)
	p, err := playAll(ctx, s)
	if err == nil {
		playedKnown.Store(key, p)
	}
	return p, err
}

// place is where a match of a scenario is played.
type place struct {
	arena *arena.Arena
	game  *sim.Game
	walls *sight.Table
}

// openPlace makes the map of the k-th match, which for a town is that of several.
func openPlace(s scenario.Scenario, k int) (p place, err error) {
	s.Play.Seed += uint64(k)
	if s.Lobby.Map == "town" {
		cfg, _, err := lobbyOf(s)
		return place{cfg.Arena, cfg.Rules.Game, cfg.Walls}, err
	}
	name := fmt.Sprintf("%s:%d:%d", s.Lobby.Map, s.Ground(s.Lobby.Players), s.Play.Seed)
	if p.arena, err = openArena(name); err == nil {
		p.game, err = openGame("", name, s.Lobby.Mode)
	}
	return p, err
}

func playAll(ctx context.Context, s scenario.Scenario) (p capacity.Played, err error) {
	ticks := int((matchSeconds + s.Measure.WarmSeconds) * float64(s.Rates.TickHz))
	most := min(max(playedMost/(ticks*s.Lobby.Players), playedBatch), playedEnd)
	maps := most
	if s.Lobby.Map == "town" {
		maps = min(max(playedTowns/s.Ground(s.Lobby.Players), playedBatch/4), playedBatch)
		most = 2 * playedBatch / maps * maps // as many on each
	}
	places := make([]func() (place, error), maps)
	for k := range places {
		places[k] = sync.OnceValues(func() (place, error) { return openPlace(s, k) })
	}
	facts := asked(s)
	var parts []capacity.Facts
	tales := make([]tale, maps)
	for played := 0; played < most && (played < 2*playedBatch || !(p.Unsure.Bytes(p.Alive) < playedSure)); {
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		all := make([]match, min(playedBatch, most-played))
		errs := make([]error, len(all))
		sideBySide(len(all), func(i int) {
			at, err := places[(played+i)%maps]()
			if err != nil {
				errs[i] = err
				return
			}
			one := s
			one.Play.Seed += uint64(played + i)
			all[i] = playSolo(one, at)
		})
		for i := range all {
			if errs[i] != nil {
				return p, errs[i]
			}
			tales[(played+i)%maps].add(all[i])
		}
		played += len(all)
		parts = parts[:0]
		for k := range tales {
			if len(tales[k].of) > 0 {
				parts = append(parts, tales[k].facts(facts))
			}
		}
		p = capacity.NewPlayed(played, parts)
	}
	return p, nil
}

// playSolo plays one match and counts.
func playSolo(s scenario.Scenario, at place) match {
	p := newSolo(s, at.arena, at.game, at.walls)
	hz := float64(s.Rates.TickHz)
	for range int(s.Measure.WarmSeconds * hz) {
		p.step()
	}
	p.told.ticks = int(math.Round(s.Measure.Seconds * hz))
	for i := range p.told.ticks {
		p.step()
		p.count(i)
	}
	p.told.counts[server.BytesOut] = 1 // nothing is sent: matches weigh alike
	return p.told
}

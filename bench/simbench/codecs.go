package simbench

import (
	"context"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/schema"
)

// The lobby in which codecs are compared.
const (
	codecPlayers = 64
	codecWarmup  = scenario.Duration(2 * time.Second)
	codecTime    = scenario.Duration(4 * time.Second)
	codecPlays   = 3
)

// CompareCodecs plays one lobby with every codec, the scenario's first. It returns nil if it is
// interrupted.
func CompareCodecs(ctx context.Context, s scenario.Scenario) (*measure.Codecs, error) {
	first, err := schema.ParseCodec(s.Network.Codec)
	if err != nil {
		return nil, err
	}
	s.Lobby.Players, s.Lobby.Spectators, s.Play.LeavesPerMinute, s.Rates.Kbps,
		s.Network.Link = codecPlayers, 0, 0, 0, "clean"
	s.Measure.Warmup, s.Measure.Duration, s.Play.Traces = codecWarmup, codecTime, nil
	all := &measure.Codecs{Players: codecPlayers, Seconds: codecTime.Seconds()}
	var least [schema.Codecs]LeastTicks
	for range codecPlays { // of each codec in turn, so that all meet the same disturbances
		for i := range least {
			s.Network.Codec = ((first + schema.Codec(i)) % schema.Codecs).String()
			err := least[i].Play(ctx, s, Probe{})
			if ctx.Err() != nil {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for i := range least {
		l := least[i].Sum(codecPlayers)
		name := ((first + schema.Codec(i)) % schema.Codecs).String()
		all.Each = append(all.Each, measure.Codec{Name: name, BytesPerSecond: l.BytesPerClient,
			TickMillis: l.TickCPUMillis.Mean})
	}
	return all, nil
}

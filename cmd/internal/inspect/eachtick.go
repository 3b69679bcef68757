package inspect

import (
	"context"
	"fmt"

	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/sim"
)

// eachTick plays a recording and calls do after each tick, with the match and what entered it. Its
// errors name the file.
func eachTick(ctx context.Context, path string, o *playback.Options,
	do func(m *sim.Match, in *sim.TickInputs) error) error {
	r, err := playback.Open(path, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if err = r.Each(ctx, func(err error) error {
		if err == nil {
			err = do(r.Player.Match, r.Player.Inputs())
		}
		return err
	}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

package inspect

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// eachTick plays a recording and calls do after each tick, with the match and what entered it. Its
// errors name the file.
func eachTick(ctx context.Context, path string, o *playback.Options,
	do func(m *sim.Match, in *sim.TickInputs) error) error {
	file, err := os.Open(path)
	if err != nil {
		return usage.Errorf("recording: %w", err)
	}
	defer file.Close()
	r, err := replay.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	p, err := o.Player(&r.Head)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for ctx.Err() == nil {
		chunk, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.Load(chunk)
		}
		for err == nil && !p.Done() && ctx.Err() == nil {
			if err = p.Step(); err == nil {
				err = do(p.Match, p.Inputs())
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return ctx.Err()
}

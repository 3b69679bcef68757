package playback

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/sim/replay"
)

// Recording is the file of a recording that is played. Close it.
type Recording struct {
	Path   string
	Player *replay.Player

	file   *os.File
	reader *replay.Reader
}

// Open opens a recording, with the map, the content pack and the rules that its head names. Errors
// name the file.
func Open(path string, o *Options) (*Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usage.Errorf("recording: %w", err)
	}
	r := &Recording{Path: path, file: file}
	if r.reader, err = replay.NewReader(bufio.NewReaderSize(file, 1<<16)); err == nil {
		r.Player, err = o.Player(&r.reader.Head)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Close closes the file.
func (r *Recording) Close() {
	if r.reader != nil {
		r.reader.Close()
	}
	r.file.Close()
}

// Each plays all ticks up to the first error. It calls do after each, with the error of the tick; what
// do returns ends the playback.
func (r *Recording) Each(ctx context.Context, do func(error) error) error {
	for {
		chunk, err := r.reader.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.playChunk(ctx, chunk, do)
		}
		if err != nil {
			return err
		}
	}
}

// playChunk plays the ticks of a chunk, as Each.
func (r *Recording) playChunk(ctx context.Context, chunk *replay.Chunk, do func(error) error) error {
	err := r.Player.Load(chunk)
	for err == nil && !r.Player.Done() {
		if err = ctx.Err(); err == nil {
			err = do(r.Player.Step())
		}
	}
	return err
}

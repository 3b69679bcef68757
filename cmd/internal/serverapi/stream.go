package serverapi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server/dash"
)

// silence is how long a stream may send no frame before it is given up.
const silence = 15 * time.Second

// ErrAsleep is the error of a stream without frames: a lobby without players sends none.
var ErrAsleep = fmt.Errorf("no frame within %v: a lobby in which nobody plays sends none", silence)

// Frames calls each with every frame of a server's live page, until it returns false or an error
// occurs. about is what the stream began with. server and secret are those of Get; lobby is a lobby's
// number, "" for the only one.
func Frames(ctx context.Context, server, lobby, secret string,
	each func(about *dash.About, f *dash.Frame) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	url := Base(server) + dash.Prefix + "events"
	if lobby != "" {
		url += "?lobby=" + lobby
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return usage.Errorf("%q: expected host:port or a URL of a server: %w", server, err)
	}
	if secret := cmp.Or(secret, os.Getenv(TokenVariable)); secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	alarm := time.AfterFunc(silence, func() { cancel(ErrAsleep) })
	defer alarm.Stop()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return streamError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // the status says enough
		return fmt.Errorf("the server says %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	return readFrames(ctx, resp.Body, func(about *dash.About, f *dash.Frame) bool {
		alarm.Reset(silence)
		return each(about, f)
	})
}

// readFrames parses a stream of server-sent events.
func readFrames(ctx context.Context, body io.Reader, each func(*dash.About, *dash.Frame) bool) error {
	const maxEvent = 16 << 20
	var about dash.About
	name, lines := "", bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = rest
			continue
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var err error
		switch name {
		case "about":
			err = json.Unmarshal([]byte(data), &about)
		case "frame":
			var f dash.Frame
			if err = json.Unmarshal([]byte(data), &f); err == nil && !each(&about, &f) {
				return nil
			}
		}
		if err != nil {
			return errors.Join(ErrVersion, err)
		}
	}
	if err := lines.Err(); err != nil {
		return streamError(ctx, err)
	}
	return errors.New("the server has ended the stream")
}

// streamError is the reason for the end of a stream: that of its context, if it has one.
func streamError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("ask the server: %w", err)
}

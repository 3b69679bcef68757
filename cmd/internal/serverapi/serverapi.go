// Package serverapi asks a running server for JSON over its HTTP port. A URL and a secret go in;
// the decoded answer comes out.
package serverapi

import (
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
)

// TokenVariable is the environment variable with the secret of a server's HTTP port.
const TokenVariable = "TICKRATE_HTTP_TOKEN"

// maxAnswer bounds the answer of a server, in bytes.
const maxAnswer = 256 << 20

// ErrVersion is the error of an answer that does not decode.
var ErrVersion = errors.New("the server's answer is of another version")

// Base returns the URL of a server's HTTP port, which is named by host:port or a URL, such as that of
// its live page.
func Base(server string) string {
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return strings.TrimRight(server, "/")
}

// Get requests path of a server and decodes the JSON of the response into answer. Base reads its name. An empty secret is taken from the environment. It gives up after 30 s; a
// malformed name is an error of use, and a response that does not decode is ErrVersion.
func Get(ctx context.Context, server, path, secret string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, Base(server)+path, nil)
	if err != nil {
		return usage.Errorf("%q: expected host:port or a URL of a server: %w", server, err)
	}
	if secret := cmp.Or(secret, os.Getenv(TokenVariable)); secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server says %s: %s", resp.Status,
			strings.TrimSpace(string(body[:min(len(body), 200)])))
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return errors.Join(ErrVersion, err)
	}
	return nil
}

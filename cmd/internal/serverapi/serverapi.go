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

// Get requests base+path and decodes the JSON of the response into answer. base is a URL such as
// http://127.0.0.1:7914. An empty secret is taken from the environment. It gives up after 30 s; a
// malformed base is an error of use, and a response that does not decode is ErrVersion.
func Get(ctx context.Context, base, path, secret string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path, nil)
	if err != nil {
		return usage.Errorf("%q: expected host:port or a URL of a server: %w", base, err)
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

package swarm

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/tickrate/tickrate/client"
)

// A swarm without good tokens is not opened, and the error names the player with the bad one.
func TestOpenNeedsTokens(t *testing.T) {
	none := errors.New("no more tokens")
	for i, c := range []struct {
		token func(n int) ([]byte, error)
		want  error
		text  string
	}{
		{nil, ErrNoTokens, "swarm: Config.Token is missing"},
		{func(int) ([]byte, error) { return nil, none }, none, "token for player 0: no more tokens"},
		{func(int) ([]byte, error) { return make([]byte, 2048), nil }, client.ErrToken,
			"player 0: " + client.ErrToken.Error()},
	} {
		s, err := Open(Config{Server: netip.MustParseAddrPort("127.0.0.1:9"), Players: 2, Token: c.token})
		if s != nil || !errors.Is(err, c.want) || err.Error() != c.text {
			t.Errorf("%d: %v", i, err)
		}
	}
}

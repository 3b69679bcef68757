package host

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

// A host that starts again with the journal of its predecessor refuses, at once and with the
// reason, a token for a lobby of that, for a lobby that it does not have, and for a full one.
func TestLobbiesRefuseAfterRestart(t *testing.T) {
	if !HasJournal {
		t.Skip("no journal on this system")
	}
	cfg, _ := lobbiesConfig("mmsg", 2, 2)
	cfg.HTTP.Listen, cfg.Lobby.Players = "", 1
	cfg.Files.Journal = filepath.Join(t.TempDir(), "a.tokens")
	first, stop := running(t, cfg)
	former := protocol.LobbyRef{Host: first.making.host(), Lobby: 0}
	cfg.UDP.Listen = first.Addr().String()
	a := dialHost(t, first.Addr(), inLobby(1, former))
	a.until("a welcome", a.welcomed)
	stop()

	h, stop := running(t, cfg)
	defer stop()
	own := func(lobby uint32) protocol.LobbyRef {
		return protocol.LobbyRef{Host: h.making.host(), Lobby: lobby}
	}
	b := dialHost(t, h.Addr(), inLobby(2, own(0)))
	b.until("a welcome after the restart", b.welcomed)
	for i, c := range []struct {
		ref  protocol.LobbyRef
		want packet.Reason
	}{{former, packet.ReasonOtherHost}, {own(7), packet.ReasonNoLobby}, {own(0), packet.ReasonFull}} {
		g, began := dialHost(t, h.Addr(), inLobby(uint64(10+i), c.ref)), time.Now()
		var why packet.Reason
		g.until(c.want.String(), func() (closed bool) {
			if g.peer != nil {
				why, closed = g.peer.Closed()
			}
			return closed
		})
		if took := time.Since(began); why != c.want || took > 5*time.Second {
			t.Errorf("%v: %v after %v", c.want, why, took)
		}
	}
}

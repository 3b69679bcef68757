package server

import (
	"testing"

	"github.com/tickrate/tickrate/server/metrics"
)

// busy returns a lobby whose clients have played a number of ticks.
func busy(t testing.TB, cfg Config, clients, ticks int) *testLobby {
	t.Helper()
	l := newTestLobby(t, cfg)
	for range clients {
		l.joinedClient()
	}
	for range ticks {
		for _, c := range l.clients {
			c.play()
		}
		l.tick()
	}
	return l
}

// A summary that a reader is copying is published a second later, and the tick does not wait.
func TestPublishDoesNotBlock(t *testing.T) {
	l := busy(t, Config{Players: 4, SampleEvery: 1}, 2, 60)
	l.lobby.Publish()
	was := l.lobby.Summary()
	l.lobby.account.mu.Lock()
	l.ticks(120)
	l.lobby.Publish()
	l.lobby.account.mu.Unlock()
	if now := l.lobby.Summary(); now.Bandwidth.Bytes != was.Bandwidth.Bytes {
		t.Errorf("published %d bytes over somebody who reads %d", now.Bandwidth.Bytes, was.Bandwidth.Bytes)
	}
	l.lobby.Publish()
	if now := l.lobby.Summary(); now.Bandwidth.Bytes <= was.Bandwidth.Bytes ||
		now.Bandwidth.Bytes != l.count(metrics.BytesOut) {
		t.Errorf("%d bytes in the account, was %d, sent %d", now.Bandwidth.Bytes,
			was.Bandwidth.Bytes, l.count(metrics.BytesOut))
	}
}

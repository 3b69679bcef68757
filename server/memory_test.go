package server

import (
	"runtime"
	"testing"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// The memory that Lobby.Memory counts is within 10 % of what the heap grows by, and every owner
// has some, or is a queue that is empty.
func TestMemoryIsThatOfTheHeap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n = 8
	ground, lobbies := arena.Generate(10, 11), make([]*Lobby, 0, n+1)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := int64(0)
	for range n + 1 {
		l, err := NewLobby(Config{Arena: ground, ArenaName: "test", Players: 10, SendInterval: 2,
			ShotLogSize: 64, FlightRecorder: true, CPU: clock.ThreadCPU, Clock: clock.ThreadCPU,
			Netcode: testNetcodeConfig(), Rules: sim.Rules{Rate: 128}})
		if err != nil {
			t.Fatal(err)
		}
		l.Reserve()
		if lobbies = append(lobbies, l); len(lobbies) == 1 {
			before = heap() // what all lobbies share was made with the first
		}
	}
	grown, own, shared := (heap()-before)/n, int64(0), int64(0)
	for _, part := range lobbies[n].Memory() {
		if part.Group == ofAll {
			shared += int64(part.Bytes)
			continue
		}
		own += int64(part.Bytes)
		if part.Bytes == 0 && part.Path != "port.ingress" && part.Path != "recording" {
			t.Errorf("%s has no memory: does its field still have it?", part.Path)
		}
	}
	t.Logf("%d bytes a lobby by owner, %d by the heap, %d shared", own, grown, shared)
	if own < grown*85/100 || own > grown*115/100 {
		t.Errorf("%d bytes by owner, %d by the heap: expected within 15 %%", own, grown)
	}
	runtime.KeepAlive(lobbies)
}

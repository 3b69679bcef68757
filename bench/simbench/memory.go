package simbench

import (
	"net/netip"
	"runtime"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
)

// Memory is what the processes of a scenario take, in bytes: Process once for each process, Lobby once
// for each of its lobbies, and Player, which is part of Lobby, once for each slot of a player.
type Memory struct {
	Process float64 `json:"process"`
	Lobby   float64 `json:"lobby"`
	Player  float64 `json:"player"`
}

// NewMemory splits the resident memory of a process of a scenario that has its lobbies, by the heap of
// a lobby.
func NewMemory(s scenario.Scenario, resident float64) (m Memory, err error) {
	lobbies := 1
	if s.SharedProcess() {
		lobbies = s.Lobby.Lobbies
	}
	if m.Lobby, err = heapBytes(s); err != nil {
		return m, err
	}
	m.Process = max(0, resident-m.Lobby*float64(lobbies))
	if n := s.Lobby.Players; n > 1 {
		half := s
		half.Lobby.Players = n / 2
		fewer, err := heapBytes(half)
		if err != nil {
			return m, err
		}
		m.Player = max(0, m.Lobby-fewer) / float64(n-n/2)
	}
	return m, nil
}

// Of returns the memory of a number of lobbies in a number of processes.
func (m Memory) Of(lobbies, processes int) float64 {
	return m.Process*float64(processes) + m.Lobby*float64(lobbies)
}

// heapBytes is what one lobby of a scenario takes of the heap, ready for its players.
func heapBytes(s scenario.Scenario) (float64, error) {
	cfg, err := Lobby(s)
	if err != nil {
		return 0, err
	}
	cfg.Netcode = netcode.ServerConfig{ProtocolID: protocol.ProtocolID, PrivateKey: netcode.Key{1},
		Entropy: [32]byte{1}, AllowTokenReuse: true,
		Addresses: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:7913")}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := server.NewLobby(cfg)
	if err != nil {
		return 0, err
	}
	l.Reserve()
	l.PackContent()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(l)
	return max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc)), nil
}

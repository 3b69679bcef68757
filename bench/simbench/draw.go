package simbench

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
)

// Draw draws a scenario at random from the space that predictions are checked on: number of the draw
// under a seed. Two of three have several lobbies. No draw has more than drawnLoad players times Hz,
// so that half a processor carries each.
func Draw(seed uint64, number int) scenario.Scenario {
	r := rand.New(rand.NewPCG(seed, 0x64726177<<8|uint64(number))) // "draw"
	s := scenario.Default()
	s.Name = fmt.Sprintf("%d/%d", seed, number)
	s.Play.Seed = 1000*seed + uint64(number)
	s.Play.Full, s.Play.Arrival = 1, scenario.Duration(time.Second)
	s.Rates.TickHz = pick(r, 30, 60, 64, 100, 128)
	s.Rates.SendEvery = max(1, s.Rates.TickHz/pick(r, 15, 20, 32, 64))
	s.Rates.Kbps = pick(r, 0, 0, 0, 256)
	s.Lobby.Map = pick(r, "gen", "town")
	s.Lobby.Spread = pick(r, 1., 1, 2, 4)
	s.Network.Link = pick(r, "clean", "clean", "delay=20ms", "loss=1%,delay=30ms", "mobile")
	s.Network.Codec = pick(r, "huffman", "huffman", "range", "stored")
	s.Network.Socket = pick(r, "gnet", "gnet", "mmsg")
	most := drawnLoad / s.Rates.TickHz
	if r.IntN(3) == 0 {
		s.Lobby.Players = min(most, 16+r.IntN(200))
	} else {
		s.Lobby.Players = 4 + r.IntN(29)
		s.Lobby.Lobbies = min(2+r.IntN(20), max(2, most/s.Lobby.Players))
		s.Lobby.ProcessPerLobby = s.Lobby.Lobbies <= 4 && r.IntN(4) == 0
	}
	s.Lobby.Most = max(s.Lobby.Most, s.Lobby.Players)
	return s
}

// drawnLoad is the largest load of a scenario that is drawn, in ticks of players a second.
const drawnLoad = 15000

// pick draws one of several values.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// BuiltIn returns the scenarios of this build at sizes that half a processor carries.
func BuiltIn() (all []scenario.Scenario) {
	sizes := map[string]int{"one-lobby": 200, "hot-spot": 100, "wide": 150, "mobile": 100, "duels": 20,
		"matches": 4}
	for _, name := range scenario.Names() {
		if s, ok := scenario.Named(name); ok && sizes[name] > 0 {
			all = append(all, s.At(sizes[name]))
		}
	}
	return all
}

package simbench

import (
	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/server/metrics"
)

// PredictionVersion is the version of the JSON of Prediction.
const PredictionVersion = 4

// Prediction is what a scenario costs on this machine. Its numbers are measured here and now: the
// lobby in virtual time, its sockets live.
type Prediction struct {
	Type        string            `json:"type"` // "prediction"
	Version     int               `json:"version"`
	Machine     measure.Machine   `json:"machine"`
	Commit      string            `json:"commit"`
	Scenario    scenario.Scenario `json:"scenario"`
	Repeats     int               `json:"repeats"`
	Windows     []Cost            `json:"windows"` // the opening, then the steady state
	Memory      Memory            `json:"memory"`
	MemoryBytes float64           `json:"memory_bytes"` // of all processes
	Intervals   Intervals         `json:"intervals"`    // of the first window
	Prices      Prices            `json:"prices"`
	Hosts       *Hosts            `json:"hosts,omitempty"`
	Refused     string            `json:"refused,omitempty"` // why there are no hosts
}

// Cost is what one window costs. Times of ticks are of one lobby, with its part of what its process
// does for all of them in their ticks.
type Cost struct {
	Window string `json:"window"`
	// CPU time, system calls of the tick included.
	TickMillis measure.Estimate `json:"tick_ms"`
	Stages     []StageEstimate  `json:"stages_ms"` // CPU time, a tick
	Tail       float64          `json:"tail"`      // p99 of a tick by its mean
	Lobbies    float64          `json:"lobby_cores"`
	// Of all processes: sockets, wake-ups, meters, the runtime. Each process pays once.
	Processes   float64          `json:"process_cores"`
	ServerCores float64          `json:"server_cores"`          // both
	BytesDown   measure.Estimate `json:"bytes_down_per_client"` // a second, UDP payload
	BytesUp     measure.Estimate `json:"bytes_up_per_client"`
	PacketsIn   float64          `json:"packets_in_per_second"` // of all lobbies
	PacketsOut  float64          `json:"packets_out_per_second"`
	// Of all lobbies, UDP and IPv4 headers included.
	EgressMbps float64    `json:"egress_mbps"`
	Sockets    SocketCost `json:"sockets"` // of one process
}

// NewCost adds the sockets of all processes to a simulated window.
func NewCost(s scenario.Scenario, sim Simulated, sockets []SocketCost) Cost {
	lobbies, processes := float64(s.Lobby.Lobbies), float64(len(sockets))
	clients, hz := float64(s.Total()+s.Spectators()), float64(s.Rates.TickHz)
	live := meanCost(sockets)
	c := Cost{
		Window: sim.Window.Name, TickMillis: sim.Tick.Times(1e-3), Stages: inMillis(sim.Stages),
		Tail: sim.Tail, Sockets: live,
		BytesDown: sim.BytesDown, BytesUp: sim.BytesUp, PacketsIn: sim.DatagramsIn * hz * lobbies,
		PacketsOut: sim.DatagramsOut * hz * lobbies,
	}
	receive, send := live.ReceiveMillis*processes/lobbies, live.SendMillis*processes/lobbies
	c.Lobbies = c.TickMillis.Mean * hz * lobbies / 1e3
	c.Processes = (live.ReceiveMillis + live.SendMillis + live.BesideMillis) * hz * processes / 1e3
	c.ServerCores = c.Lobbies + c.Processes
	c.TickMillis.Mean += receive + send
	c.Stages[metrics.StageReceive].Mean += receive
	c.Stages[metrics.StageSend].Mean += send
	c.EgressMbps = (c.BytesDown.Mean*clients + measure.OverIPv4*c.PacketsOut) * 8 / 1e6
	return c
}

// inMillis converts stages in µs.
func inMillis(stages []StageEstimate) []StageEstimate {
	all := append([]StageEstimate{}, stages...)
	for i := range all {
		all[i].Estimate = all[i].Times(1e-3)
	}
	return all
}

// meanCost is the mean over processes.
func meanCost(all []SocketCost) (m SocketCost) {
	for _, c := range all {
		each := 1 / float64(len(all))
		m.Ticks = c.Ticks
		for _, x := range []struct {
			to   *float64
			from float64
		}{{&m.ReceiveMillis, c.ReceiveMillis}, {&m.SendMillis, c.SendMillis}, {&m.BesideMillis,
			c.BesideMillis}, {&m.DatagramsIn, c.DatagramsIn},
			{&m.DatagramsOut, c.DatagramsOut}, {&m.Receives, c.Receives}, {&m.Sends, c.Sends},
			{&m.Late, c.Late}} {
			*x.to += each * x.from
		}
	}
	return m
}

package simbench

import (
	"fmt"
	"math"
)

// Prices are the size of a host and its cost. A file of them is TOML; a price of 0 means free.
type Prices struct {
	Currency string `toml:"currency" json:"currency"`
	// One host for an hour.
	HostHour float64 `toml:"host_hour" json:"host_hour"`
	// 10^9 bytes sent, IP and UDP headers included.
	EgressGB     float64 `toml:"egress_gb" json:"egress_gb"`
	HostCores    int     `toml:"host_cores" json:"host_cores"`         // for lobbies
	HostMemoryGB float64 `toml:"host_memory_gb" json:"host_memory_gb"` // 10^9 bytes
	HostMbps     float64 `toml:"host_mbps" json:"host_mbps"`           // sent
	// In and out a second.
	HostPackets float64 `toml:"host_packets" json:"host_packets_in_out_second"`
}

// DefaultPrices is a host of 8 cores for free: its capacity is of interest without prices.
func DefaultPrices() Prices {
	return Prices{Currency: "EUR", HostCores: 8, HostMemoryGB: 16, HostMbps: 1000, HostPackets: 1e6}
}

// Check returns the key of the first wrong field and what was expected; "" if all are right.
func (p Prices) Check() (key, want string) {
	not := func(x, low, high float64) bool { return !(x >= low && x <= high) } // NaN is neither
	switch {
	case not(p.HostHour, 0, 1e6):
		return "host_hour", "a price of 0 to a million"
	case not(p.EgressGB, 0, 1e6):
		return "egress_gb", "a price of 0 to a million"
	case p.HostCores < 1 || p.HostCores > 4096:
		return "host_cores", "1 to 4096 cores"
	case not(p.HostMemoryGB, 0.1, 1e5):
		return "host_memory_gb", "0.1 to 100000 GB"
	case not(p.HostMbps, 1, 1e7):
		return "host_mbps", "1 to 10000000 Mbit/s"
	case not(p.HostPackets, 1, 1e10):
		return "host_packets", "1 to 10^10 datagrams a second"
	}
	return "", ""
}

// Usage is what all lobbies of a scenario take of a host. Cores are of whole processes, system
// calls included.
type Usage struct {
	Lobbies    int     `json:"lobbies"`
	Players    int     `json:"players"` // in all lobbies
	Cores      float64 `json:"cores"`
	EgressMbps float64 `json:"egress_mbps"` // headers included, while a match is busiest
	// Headers included, in the steady state: this is paid for.
	MeanMbps    float64 `json:"egress_mbps_long_run"`
	Packets     float64 `json:"packets_in_out_second"` // in and out
	MemoryBytes float64 `json:"memory_bytes"`          // 0: not measured
}

// Demand is the load that hosts are wanted for.
type Demand struct {
	Concurrent int     // players at a time
	Headroom   float64 // part of each host that stays free, 0 to 0.9
	// Part of a core that ticks may fill: the service level's part of the period, above 0.
	CoreShare float64
}

// Hosts are the machines and the money that a number of players takes.
type Hosts struct {
	PlayersPerCore float64 `json:"players_per_core"` // at CoreShare, without headroom
	LobbiesPerHost int     `json:"lobbies_per_host"`
	PlayersPerHost int     `json:"players_per_host"`
	// The resource that a host runs out of first: cpu, egress, packets or memory.
	Binding     string  `json:"binding"`
	Limits      []Limit `json:"limits"`
	Concurrent  int     `json:"concurrent"`
	Hosts       int     `json:"hosts"`
	EgressMbps  float64 `json:"egress_mbps"`          // of all players, at peak
	MeanMbps    float64 `json:"egress_mbps_long_run"` // of all players
	HostsMonth  float64 `json:"hosts_month"`          // money for 730 hours
	EgressMonth float64 `json:"egress_month"`
	PlayerHour  float64 `json:"player_hour"` // money for both
	// Intervals of Hosts, and of HostsMonth and EgressMonth together; zero where nothing is predicted.
	HostsRange Range `json:"hosts_interval"`
	MonthRange Range `json:"month_interval"`
}

// Limit is the number of lobbies that one resource of a host carries.
type Limit struct {
	Resource string  `json:"resource"`
	Lobbies  float64 `json:"lobbies"`
}

// hoursMonth is a month in hours.
const hoursMonth = 730

// Hosts returns the hosts for a demand, or an error where no host carries one lobby.
func (u Usage) Hosts(prices Prices, d Demand) (Hosts, error) {
	lobbies, free := float64(u.Lobbies), 1-d.Headroom
	h := Hosts{Concurrent: d.Concurrent}
	h.Limits = []Limit{ // a host's amount by that of one lobby
		{"cpu", float64(prices.HostCores) * d.CoreShare * free / (u.Cores / lobbies)},
		{"egress", prices.HostMbps * free / (u.EgressMbps / lobbies)},
		{"packets", prices.HostPackets * free / (u.Packets / lobbies)},
	}
	if u.MemoryBytes > 0 {
		h.Limits = append(h.Limits, Limit{"memory",
			prices.HostMemoryGB * 1e9 * free / (u.MemoryBytes / lobbies)})
	}
	least := math.Inf(1)
	for _, l := range h.Limits {
		if l.Lobbies < least {
			least, h.Binding = l.Lobbies, l.Resource
		}
	}
	perLobby := u.Players / u.Lobbies
	h.PlayersPerCore = d.CoreShare * float64(u.Players) / u.Cores
	if h.LobbiesPerHost = int(min(least, 1e6)); h.LobbiesPerHost < 1 {
		return h, fmt.Errorf("one lobby of %d takes more %s than a host has with %.0f %% of it free",
			perLobby, h.Binding, 100*d.Headroom)
	}
	h.PlayersPerHost = h.LobbiesPerHost * perLobby
	h.Hosts = (d.Concurrent + h.PlayersPerHost - 1) / h.PlayersPerHost
	times := float64(d.Concurrent) / float64(u.Players)
	h.EgressMbps, h.MeanMbps = u.EgressMbps*times, u.MeanMbps*times
	h.HostsMonth = float64(h.Hosts) * prices.HostHour * hoursMonth
	h.EgressMonth = h.MeanMbps / 8 / 1000 * 3600 * hoursMonth * prices.EgressGB
	if d.Concurrent > 0 {
		h.PlayerHour = (h.HostsMonth + h.EgressMonth) / hoursMonth / float64(d.Concurrent)
	}
	return h, nil
}

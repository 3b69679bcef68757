package capacity

import (
	"fmt"
	"math"
)

// Prices are what a host has and what it costs. A file of them is TOML; a price of 0 means that it costs nothing.
type Prices struct {
	Currency     string  `toml:"currency" json:"currency"`
	HostHour     float64 `toml:"host_hour" json:"host_hour"`                     // one host for an hour
	EgressGB     float64 `toml:"egress_gb" json:"egress_gb"`                     // 10^9 bytes that leave, IP and UDP with them
	HostCores    int     `toml:"host_cores" json:"host_cores"`                   // that lobbies may have
	HostMemoryGB float64 `toml:"host_memory_gb" json:"host_memory_gb"`           // 10^9 bytes
	HostMbps     float64 `toml:"host_mbps" json:"host_mbps"`                     // that may leave
	HostPackets  float64 `toml:"host_packets" json:"host_packets_in_out_second"` // in and out a second
}

// DefaultPrices is a host of 8 cores that costs nothing: what it holds is worth knowing without prices.
func DefaultPrices() Prices {
	return Prices{Currency: "EUR", HostCores: 8, HostMemoryGB: 16, HostMbps: 1000, HostPackets: 1e6}
}

// Check says which field cannot be: its key and what is expected; "" if all can.
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

// Costs are what a number of players takes in hosts and money.
type Costs struct {
	PlayersPerCore float64 `json:"players_per_core"`
	LobbiesPerHost int     `json:"lobbies_per_host"`
	PlayersPerHost int     `json:"players_per_host"`
	Binding        string  `json:"binding"` // the resource of a host that is used up first: cpu, egress, packets or memory
	Limits         []Limit `json:"limits"`
	Concurrent     int     `json:"concurrent"`
	Hosts          int     `json:"hosts"`                // with headroom
	EgressMbps     float64 `json:"egress_mbps"`          // of everybody when matches are dearest
	LongRunMbps    float64 `json:"egress_long_run_mbps"` // of everybody in the long run, which is what is paid for; EgressMbps where that was not predicted
	HostsMonth     float64 `json:"hosts_month"`          // money, 730 hours
	EgressMonth    float64 `json:"egress_month"`
	PlayerHour     float64 `json:"player_hour"` // money, both
}

// Limit is how many lobbies one resource of a host carries.
type Limit struct {
	Resource string  `json:"resource"`
	Lobbies  float64 `json:"lobbies"`
}

// hoursMonth is a month, in hours.
const hoursMonth = 730

// dearer is p with what o takes more of.
func (p Prediction) dearer(o Prediction) Prediction {
	p.TickMicros, p.Cores, p.Tail = max(p.TickMicros, o.TickMicros), max(p.Cores, o.Cores), max(p.Tail, o.Tail)
	p.EgressMbps, p.PacketsIn, p.PacketsOut = max(p.EgressMbps, o.EgressMbps), max(p.PacketsIn, o.PacketsIn), max(p.PacketsOut, o.PacketsOut)
	p.MemoryMB = max(p.MemoryMB, o.MemoryMB)
	return p
}

// Costs works out what concurrent players need of hosts, of which a part of headroom (0 to 0.9) stays free. Of a core, ticks may
// take the level's part. Hosts are for what is dearer, a match's first seconds or its long run; traffic is paid for as in the
// long run, where that was predicted. It refuses a lobby that no host carries.
func (p Prediction) Costs(l Level, prices Prices, concurrent int, headroom float64) (Costs, error) {
	mean := p.EgressMbps
	if late := p.LongRun; late != nil {
		mean = late.EgressMbps
		p = p.dearer(*late)
	}
	lobbies := float64(p.Facts.Lobbies)
	share := l.WithDefaults().TickShare
	c := Costs{Concurrent: concurrent}
	free := 1 - headroom
	perLobby := []Limit{ // a host's amount, and what one lobby takes of it
		{"cpu", float64(prices.HostCores) * share * free / (p.Cores / lobbies)},
		{"egress", prices.HostMbps * free / (p.EgressMbps / lobbies)},
		{"packets", prices.HostPackets * free / ((p.PacketsIn + p.PacketsOut) / lobbies)},
	}
	if p.MemoryMB > 0 {
		perLobby = append(perLobby, Limit{"memory", prices.HostMemoryGB * 1000 * free / (p.MemoryMB / lobbies)})
	}
	least := math.Inf(1)
	for _, x := range perLobby {
		if x.Lobbies < least {
			least, c.Binding = x.Lobbies, x.Resource
		}
	}
	c.Limits = perLobby
	c.PlayersPerCore = share / (p.Cores / (lobbies * float64(p.Facts.PerLobby)))
	if tick := p.TickMicros / 1000 * max(p.Tail, 1); tick > l.TickLimitMillis() {
		return c, fmt.Errorf("one lobby of %d does not hold the level: p99 of its tick is %.1f ms, over %.1f", p.Facts.PerLobby, tick, l.TickLimitMillis())
	}
	if c.LobbiesPerHost = int(min(least, 1e6)); c.LobbiesPerHost < 1 {
		return c, fmt.Errorf("one lobby of %d needs more %s than a host has with %.0f %% kept free", p.Facts.PerLobby, c.Binding, 100*headroom)
	}
	c.PlayersPerHost = c.LobbiesPerHost * p.Facts.PerLobby
	c.Hosts = (concurrent + c.PlayersPerHost - 1) / c.PlayersPerHost
	times := float64(concurrent) / (lobbies * float64(p.Facts.PerLobby))
	c.EgressMbps, c.LongRunMbps = p.EgressMbps*times, mean*times
	c.HostsMonth = float64(c.Hosts) * prices.HostHour * hoursMonth
	c.EgressMonth = c.LongRunMbps / 8 / 1000 * 3600 * hoursMonth * prices.EgressGB
	if concurrent > 0 {
		c.PlayerHour = (c.HostsMonth + c.EgressMonth) / hoursMonth / float64(concurrent)
	}
	return c, nil
}

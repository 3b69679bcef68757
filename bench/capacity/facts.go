package capacity

// Facts are what a step was measured on, as far as the model goes by it.
type Facts struct {
	Scenario  string  `json:"scenario"`
	Round     int     `json:"round,omitempty"` // of several that are compared in pairs
	Virtual   bool    `json:"virtual"`         // in virtual time: no sockets, CPU time of the lobby's thread alone
	Plays     int     `json:"plays,omitempty"` // times that each virtual tick was played; the least time of each counts
	Lobbies   int     `json:"lobbies"`
	PerLobby  int     `json:"players_per_lobby"`
	TickHz    int     `json:"tick_hz"`
	SendEvery int     `json:"send_every_ticks"`
	Side      float64 `json:"side_m"`       // of the map
	Far       float64 `json:"far_m"`        // as far as anybody sees; 0: no limit
	Walls     bool    `json:"walls_hide"`   // houses hide who is behind them
	Crowd     float64 `json:"crowd"`        // share of players in one place
	Bursts    float64 `json:"bursts_hz"`    // of each player
	Throws    float64 `json:"throws_hz"`    // likewise
	Visible   float64 `json:"visible"`      // others whom a client sees, mean
	Shots     float64 `json:"shots_tick"`   // rounds fired in one lobby a tick
	Bytes     float64 `json:"bytes_client"` // to each client a second, UDP payload
	Datagrams float64 `json:"datagrams_client"`
	Memory    float64 `json:"memory_bytes"` // of one lobby; 0: not measured
	Codec     string  `json:"codec"`
	Cap       float64 `json:"cap_bytes"` // the budget: most bytes to each client a second; 0: none
}

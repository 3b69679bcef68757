package capacity

// Facts are what a step was measured on, as far as the model goes by it, and what came of it.
type Facts struct {
	Scenario   string  `json:"scenario"`
	Round      int     `json:"round,omitempty"` // of several that are compared in pairs
	Virtual    bool    `json:"virtual"`         // in virtual time: no sockets, CPU time of the lobby's thread alone
	Plays      int     `json:"plays,omitempty"` // times that each virtual tick was played; the least time of each counts
	Lobbies    int     `json:"lobbies"`
	PerLobby   int     `json:"players_per_lobby"`
	Spectators int     `json:"spectators,omitempty"` // in each lobby, beside its players
	TickHz     int     `json:"tick_hz"`
	SendEvery  int     `json:"send_every_ticks"`
	Side       float64 `json:"side_m"`                  // of the map
	Meets      Meets   `json:"meets,omitzero"`          // how players come upon enemies on such maps, before anybody fires
	Played     Played  `json:"played,omitzero"`         // what players came to do in matches of their own
	Far        float64 `json:"far_m"`                   // as far as anybody sees; 0: no limit
	Walls      bool    `json:"walls_hide"`              // houses hide who is behind them
	Crowd      float64 `json:"crowd"`                   // share of players in one place
	Bursts     float64 `json:"bursts_hz"`               // of each player
	Throws     float64 `json:"throws_hz"`               // likewise
	Leaves     float64 `json:"leaves_minute,omitempty"` // likewise; another comes at once
	Delay      float64 `json:"delay_s,omitempty"`       // of a datagram, each way, mean
	Jitter     float64 `json:"jitter_s,omitempty"`      // that one may take longer than another
	Loss       float64 `json:"loss,omitempty"`          // share of datagrams, each way
	Codec      string  `json:"codec"`                   // of snapshots
	Mode       string  `json:"mode,omitempty"`          // "" was deathmatch
	Cap        float64 `json:"cap_bytes"`               // the budget: most bytes to each client a second; 0: none
	LongRun    bool    `json:"long_run,omitempty"`      // later in a match, when who dies comes back all the time; else in its first seconds, when nearly all are alive
	Matches    int     `json:"matches,omitempty"`       // that the rest is the mean of; they differ in their seeds
	Seconds    float64 `json:"match_seconds,omitempty"` // virtual ones that were measured of each
	Unsure     float64 `json:"bytes_unsure,omitempty"`  // standard error of Bytes, as matches differ, relative to it
	TimeUnsure float64 `json:"time_unsure,omitempty"`   // likewise of a tick's CPU time, as matches differ and as the machine was disturbed
	Visible    float64 `json:"visible"`                 // others whom a player sees, mean
	Shots      float64 `json:"shots_tick"`              // rounds fired in one lobby a tick
	Alive      float64 `json:"alive,omitempty"`         // share of players
	Flights    float64 `json:"flights,omitempty"`       // rivets, rockets and grenades in the air or at rest, in one lobby at a time
	Launches   float64 `json:"launches,omitempty"`      // of them in one lobby a second: how many set out
	Turns      float64 `json:"turns,omitempty"`         // likewise: how often one strikes, bounces or goes off
	Kills      float64 `json:"kills,omitempty"`         // in one lobby a second
	Bytes      float64 `json:"bytes_client"`            // to each client a second, UDP payload
	Parts      Parts   `json:"bytes_by_part,omitzero"`  // what they are for; they add up to Bytes, or are all 0 where that was not measured
	Datagrams  float64 `json:"datagrams_client"`        // to each client a second
	Snapshots  float64 `json:"snapshots_client,omitempty"`
	Memory     float64 `json:"memory_bytes"` // of one lobby; 0: not measured
}

// Meets are how players come upon enemies, if nobody fires and nothing stands in anybody's way: where they appear, and 2 and 4 s later, as they run to
// where they want to go. They follow from maps and numbers alone; all 0: not known.
type Meets [3]Meet

// Meet is that of one instant.
type Meet struct {
	Facing float64 `json:"facing"` // share of players who see the enemy nearest to them
	Metres float64 `json:"metres"` // to that one, geometric mean
	Told   float64 `json:"told"`   // share of enemies whom a client would be told of
}

// Parts are what bytes to each client a second are for.
type Parts struct {
	Frame  float64 `json:"frame"`  // seals, heads of packages and of snapshots
	Events float64 `json:"events"` // events, notes, content, and what belongs to sessions
	Owner  float64 `json:"owner"`  // the client's own row
	Things float64 `json:"things"` // flights, and what stands about
	Rows   float64 `json:"rows"`   // of players
}

// Sum is all of them.
func (p Parts) Sum() float64 { return p.Frame + p.Events + p.Owner + p.Things + p.Rows }

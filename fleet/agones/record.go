package agones

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Int64 is a 64-bit integer as the SDK server writes it: a string. It reads numbers, too.
type Int64 int64

// MarshalJSON writes a string.
func (n Int64) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

// UnmarshalJSON reads a string or a number.
func (n *Int64) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40s: expected a whole number of 64 bits, in quotes or not", b)
	}
	*n = Int64(v)
	return nil
}

// GameServer is the record of a game server, with the names of the REST interface. Fields that
// neither side of this module uses are left out.
type GameServer struct {
	Meta   Meta   `json:"object_meta"`
	Spec   Spec   `json:"spec"`
	Status Status `json:"status"`
}

// Meta names a GameServer and holds what allocators attach to it.
type Meta struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	UID             string            `json:"uid"`
	ResourceVersion string            `json:"resource_version"`
	Generation      Int64             `json:"generation"`
	Created         Int64             `json:"creation_timestamp"` // Unix seconds
	Deleted         Int64             `json:"deletion_timestamp"` // Unix seconds; 0: it is not being deleted
	Annotations     map[string]string `json:"annotations"`
	Labels          map[string]string `json:"labels"`
}

// Spec is the part of a GameServer that its fleet decides.
type Spec struct {
	Health Health `json:"health"`
}

// Health says how often a game server must call /health.
type Health struct {
	Disabled            bool `json:"disabled"`
	PeriodSeconds       int  `json:"period_seconds"`
	FailureThreshold    int  `json:"failure_threshold"`
	InitialDelaySeconds int  `json:"initial_delay_seconds"`
}

// Status is what a GameServer does now.
type Status struct {
	State     string             `json:"state"`
	Address   string             `json:"address"`
	Addresses []json.RawMessage  `json:"addresses"`
	Ports     []Port             `json:"ports"`
	Players   json.RawMessage    `json:"players"` // null: dropped by Agones
	Counters  map[string]Counter `json:"counters"`
	Lists     map[string]List    `json:"lists"`
}

// Port is one port of a GameServer.
type Port struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// Counter is a counter of a GameServer: 0 <= Count <= Capacity.
type Counter struct {
	Count    Int64 `json:"count"`
	Capacity Int64 `json:"capacity"`
}

// List is a list of a GameServer: at most Capacity different values.
type List struct {
	Capacity Int64    `json:"capacity"`
	Values   []string `json:"values"`
}

// The states of a GameServer that this module names.
const (
	StateScheduled    = "Scheduled"
	StateRequestReady = "RequestReady"
	StateReady        = "Ready"
	StateAllocated    = "Allocated"
	StateReserved     = "Reserved"
	StateShutdown     = "Shutdown"
	StateUnhealthy    = "Unhealthy"
)

// Names in a GameServer that allocators and fleets write and a game server reads.
const (
	CounterRooms  = "rooms"                     // lobbies: taken, and most
	ListPlayers   = "players"                   // client ids of connected players
	LastAllocated = "agones.dev/last-allocated" // annotation that each allocation changes
	MapKey        = "tickrate/map"              // annotation or label of an allocation: map of the lobby
	ModeKey       = "tickrate/mode"             // likewise: mode of the lobby
	PlayersKey    = "tickrate/players"          // likewise: most players of the lobby
	DrainLabel    = "tickrate/drain"            // "true": finish and go, as a fleet's overflow says
)

package host

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host/capture"
	"github.com/tickrate/tickrate/server/metrics"
)

// Config describes a server process. Lobby is what its lobbies are made from. Zero fields mean the
// defaults named.
type Config struct {
	// its LoadMap, Record, Runner and clocks are set by the host; its Netcode needs a key only
	Lobby   server.Config
	Lobbies LobbiesConfig
	Name    string // shown by server browsers and the console, at most 255 bytes
	UDP     UDPConfig
	HTTP    HTTPConfig
	Query   QueryConfig
	Console ConsoleConfig
	Files   FilesConfig

	// longest time that Host.Drain lets matches go on; default DefaultDrain
	DrainFor time.Duration
	// for which a host that drains ends no lobby with players, so that other hosts can take them; default 0
	MoveFirst time.Duration

	MaxSteps int // most ticks that a frame plays to catch up; see ClockConfig
	MaxBatch int // most of them between two reads of the socket; see ClockConfig
	// Threads that share the systems of one tick, 1 to MaxTickWorkers; default 1. Several exclude
	// LobbiesConfig.Workers.
	TickWorkers int

	// Maps loads maps for the console, the rotation and lobbies on demand, one at a time, on a
	// goroutine of its own. Default: no other map is found.
	Maps func(server.MapSpec) (server.LoadedMap, error)

	// Prefault makes the system give the memory that this process has asked for, so that no tick
	// waits for it. The host then makes the memory of all slots before the first player, and of
	// another map before it is played.
	Prefault func()

	// Capture writes down ticks that miss their deadlines; it has been started, and its owner closes it
	// after Run. Default: none.
	Capture *capture.Recorder

	Hiccup *meter.Histogram // wake-up delays of an idle thread, ns, reset with figures; default none
	// How many times as long as at full speed work takes on the processors of the workers, in
	// clock.SlowdownUnit, reset with figures; default none: then the speed is not measured.
	Slowdown *meter.Histogram
	Log      *slog.Logger // default none

	// called in each stage with slot -1, and in the snapshot of each connection: plants faults in tests
	stall func(lobby uint32, s metrics.Stage, slot int)
}

// UDPConfig describes the socket of the players.
type UDPConfig struct {
	Listen  string // host:port
	Backend string // "gnet" (default) or "mmsg"
}

// HTTPConfig describes the HTTP port.
type HTTPConfig struct {
	Listen string // host:port; "" = no port
	// for tokens and private pages; "" = none: then they are for this machine only
	Secret        string
	TokenLifetime time.Duration // default httpapi.DefaultTokenLifetime
	// silence that ends a session, as tokens say; negative never; default
	// httpapi.DefaultSessionTimeout
	SessionTimeout time.Duration
}

// QueryConfig describes the port of server browsers; see package query.
type QueryConfig struct {
	Listen string // UDP host:port; "" = no port
	Build  string // shown by browsers
}

// ConsoleConfig describes the console of the operator.
type ConsoleConfig struct {
	Input  io.Reader // lines, read to the end; default none
	Output io.Writer // answers to the lines of Input; default the log
	Exec   []string  // files of lines to run first
	Dir    string    // folder of the files that the console may read and write; "" = none
}

// FilesConfig names what the host keeps on disk; "" = nothing.
type FilesConfig struct {
	// File of used tokens, so that a restart does not accept them again; made if need be.
	Journal string
	// folder of potentially visible sets by map, so that the next start need not compute them
	PVSCache   string
	Recordings string // folder of recordings, one file a round; made if need be
	Dumps      string // folder of dumps of lobbies that panic, made if need be; default Recordings
}

// MaxTickWorkers is the most threads that share the systems of a tick.
const MaxTickWorkers = parallel.MaxParts

// Check reports what is wrong with the configuration of a lobby host, before anything is opened.
func (c Config) Check() error {
	if err := c.UDP.Check(); err != nil {
		return err
	}
	if err := c.checkWorkers(); err != nil {
		return err
	}
	c.Lobby.Name = c.Name
	if err := c.Lobby.Check(); err != nil {
		return err
	}
	_, err := c.clock(c.Lobby.Rules.Rate)
	return err
}

func (c *Config) checkWorkers() error {
	if c.TickWorkers < 0 || c.TickWorkers > MaxTickWorkers {
		return fmt.Errorf("%d workers of a tick: expected 1 to %d", c.TickWorkers, MaxTickWorkers)
	}
	if c.TickWorkers > 1 && c.Lobbies.Workers > 1 {
		return fmt.Errorf("%d workers of a tick and %d of lobbies: expected one of them to be 1",
			c.TickWorkers, c.Lobbies.Workers)
	}
	return c.Lobbies.check()
}

// Check reports a socket back end that does not exist.
func (c UDPConfig) Check() error {
	if c.Backend != "" && c.Backend != "gnet" && c.Backend != "mmsg" {
		return errBackend(c.Backend)
	}
	return nil
}

func errBackend(name string) error {
	return fmt.Errorf("socket back end %q: expected gnet or mmsg", name)
}

// clock returns the rates of a lobby, with defaults filled in.
func (c Config) clock(rate tick.Rate) (ClockConfig, error) {
	rates, _, err := ClockConfig{Simulation: rate, MaxSteps: c.MaxSteps,
		MaxBatch: c.MaxBatch}.Check()
	return rates, err
}

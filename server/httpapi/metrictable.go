package httpapi

import (
	"slices"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// metricTable holds all metrics in the order of docs/metrics.md, which is written from it.
var metricTable = slices.Concat(lobbyMetrics, trafficMetrics)

// lobbyMetrics are those of hosts, workers, lobbies and ticks.
var lobbyMetrics = []metric{
	{
		name: "tickrate_lobbies", unit: "lobbies",
		help: "Lobbies that play.",
		read: readLobbies,
		of:   ofHost,
	},
	{
		name: "tickrate_lobby_faults_total", unit: "lobbies",
		help: "Lobbies that ended by an internal fault; each leaves a dump.",
		read: readFaults,
		of:   ofHost,
	},
	{
		name: "tickrate_worker_busy_ratio", unit: "1",
		help: "Part of the last second in which a worker was busy: 1 is a whole processor.",
		read: func(s *sink) { s.gauge(s.port.Busy()) },
		of:   ofWorker,
	},
	{
		name: "tickrate_worker_lobbies_moved_total", unit: "lobbies",
		help: "Lobbies that a worker gave to a less busy one.",
		read: func(s *sink) { s.counter(float64(s.port.Moved())) },
		of:   ofWorker,
	},
	{
		name: "tickrate_worker_handed_over_datagrams_total", unit: "datagrams", labels: []string{"result"},
		help: "Datagrams that reached the socket of a worker and belong to another one, by what became of them: " +
			"handed (by this worker), got (by this worker), dropped (the ring of the other one was full).",
		read: readHandOvers,
		of:   ofWorker,
	},
	{
		name: "tickrate_lobby_players", unit: "players", brief: true,
		help: "Players with a session, without spectators.",
		read: census(func(c *cens) int { return c.Players }),
	},
	{
		name: "tickrate_lobby_players_ready", unit: "players", brief: true,
		help: "Players and spectators that get snapshots.",
		read: census(func(c *cens) int { return c.Ready }),
	},
	{
		name: "tickrate_lobby_players_joining", unit: "players",
		help: "Ready players and spectators that do not hold all that they may see yet.",
		read: census(func(c *cens) int { return c.Joining }),
	},
	{
		name: "tickrate_lobby_players_reconnectable", unit: "players",
		help: "Players and spectators whose session timed out and that may return.",
		read: census(func(c *cens) int { return c.Reconnectable }),
	},
	{
		name: "tickrate_lobby_sessions_waiting", unit: "sessions",
		help: "Sessions that have no player yet.",
		read: census(func(c *cens) int { return c.Arriving }),
	},
	{
		name: "tickrate_lobby_players_max", unit: "players", brief: true,
		help: "Slots for players.",
		read: census(func(c *cens) int { return c.PlayerSlots }),
	},
	{
		name: "tickrate_lobby_spectators", unit: "spectators", brief: true,
		help: "Spectators with a session.",
		read: census(func(c *cens) int { return c.Spectators }),
	},
	{
		name: "tickrate_lobby_spectators_max", unit: "spectators",
		help: "Slots for spectators.",
		read: census(func(c *cens) int { return c.SpectatorSlots }),
	},
	{
		name: "tickrate_lobby_load_level", unit: "level", brief: true,
		help: "Load level. A level leaves out what those below it do. 0: nothing. 1: half of the snapshots. " +
			"2: three of four. 3: detail. 4: spectators. 5: new players. 6: the match runs slower.",
		read: func(s *sink) { s.gauge(float64(s.Schedule.Level())) },
	},
	{
		name: "tickrate_lobby_state", unit: "0 or 1", labels: []string{"state"}, brief: true,
		help: "1 for the current state of the lobby: starting, open, full, shedding, stuck or ended.",
		read: readState,
	},
	{
		name: "tickrate_tick_period_seconds", unit: "seconds",
		help: "Time from one tick to the next by schedule.",
		read: func(s *sink) { s.gauge(s.Rate.Period().Seconds()) },
	},
	{
		name: "tickrate_tick_cpu_seconds", unit: "seconds", fine: true,
		help: "CPU time of a tick, or of a batch of ticks; of one in 16 where lobbies share a port (native " +
			"histogram).",
		read: natives(func(s *stats) *meter.Native { return s.TickCPU }),
	},
	{
		name: "tickrate_tick_duration_seconds", unit: "seconds", fine: true,
		help: "Time elapsed in a tick, or in a batch of ticks (native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.TickWall }),
	},
	{
		name: "tickrate_tick_lateness_seconds", unit: "seconds", fine: true,
		help: "Lateness of ticks from the scheduled instant; skipped ticks count as late (native " +
			"histogram).",
		read: func(s *sink) { s.native(s.Schedule.SinceStart) },
	},
	{
		name: "tickrate_stage_cpu_seconds", unit: "seconds", labels: []string{"stage"},
		help: "CPU time of a stage in one tick of 16 (native histogram).",
		read: byStage(func(s *stats) []*meter.Native { return s.StageCPU }),
	},
	{
		name: "tickrate_stage_duration_seconds", unit: "seconds", labels: []string{"stage"},
		help: "Time elapsed in a stage in one tick of 16 (native histogram).",
		read: byStage(func(s *stats) []*meter.Native { return s.StageWall }),
	},
	{
		name: "tickrate_ticks_total", unit: "ticks", brief: true,
		help: "Ticks played. Played, skipped and slept ticks add up to those that were due.",
		read: counts(metrics.TicksPlayed),
	},
	{
		name: "tickrate_ticks_overrun_total", unit: "ticks", brief: true,
		help: "Ticks that took longer than their period.",
		read: schedule(func(s *sched) *meter.Counter { return &s.Overruns }),
	},
	{
		name: "tickrate_ticks_skipped_total", unit: "ticks", brief: true,
		help: "Ticks given up after a stall.",
		read: schedule(func(s *sched) *meter.Counter { return &s.Skipped }),
	},
	{
		name: "tickrate_ticks_caught_up_total", unit: "ticks", brief: true,
		help: "Ticks played late, together with others.",
		read: schedule(func(s *sched) *meter.Counter { return &s.CaughtUp }),
	},
	{
		name: "tickrate_ticks_slept_total", unit: "ticks", brief: true,
		help: "Ticks not played because the lobby was empty.",
		read: counts(metrics.TicksSlept),
	},
	{
		name: "tickrate_load_level_ticks_total", unit: "ticks", labels: []string{"level"},
		help: "Ticks, or batches of ticks, on each load level.",
		read: byReason(overload.Normal, func(s *stats) []meter.Counter { return s.LoadLevel[:] }),
	},
	{
		name: "tickrate_ticks_unbalanced_total", unit: "ticks",
		help: "Ticks after which accepted, refused and dropped datagrams do not add up to received ones. " +
			"Above 0 is a bug.",
		read: counts(metrics.UnbalancedTicks),
		of:   ofBoth,
	},
}

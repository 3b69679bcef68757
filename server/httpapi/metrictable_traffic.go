package httpapi

import (
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
)

// trafficMetrics are those of what is received and sent, and of what follows from it.
var trafficMetrics = []metric{
	{
		name: "tickrate_received_datagrams_total", unit: "datagrams", brief: true,
		help: "Datagrams in.",
		read: counts(metrics.Received),
		of:   ofBoth,
	},
	{
		name: "tickrate_received_bytes_total", unit: "bytes", brief: true,
		help: "UDP payload in.",
		read: counts(metrics.BytesIn),
		of:   ofBoth,
	},
	{
		name: "tickrate_accepted_datagrams_total", unit: "datagrams",
		help: "Datagrams in that were neither refused nor dropped.",
		read: counts(metrics.Accepted),
		of:   ofBoth,
	},
	{
		name: "tickrate_refused_datagrams_total", unit: "datagrams", labels: []string{"reason"}, strip: "drop_",
		help: "Datagrams in that the netcode server refused.",
		read: byReason(netcode.DropNone+1, func(s *stats) []meter.Counter { return s.AuthDrops[:] }),
		of:   ofBoth,
	},
	{
		name: "tickrate_dropped_packets_total", unit: "packets", labels: []string{"reason"}, strip: "drop_",
		help: "Packets in that were dropped.",
		read: byReason(packet.DropNone+1, func(s *stats) []meter.Counter { return s.PacketDrops[:] }),
		of:   ofBoth,
	},
	{
		name: "tickrate_socket_lost_datagrams_total", unit: "datagrams",
		help: "Datagrams lost between this process and its network card.",
		read: func(s *sink) { u := s.Socket(); s.counter(float64(u.Lost())) },
		of:   ofSocket,
	},
	{
		name: "tickrate_sent_datagrams_total", unit: "datagrams", brief: true,
		help: "Datagrams out.",
		read: counts(metrics.Sent),
		of:   ofBoth,
	},
	{
		name: "tickrate_sent_bytes_total", unit: "bytes", brief: true,
		help: "UDP payload out.",
		read: counts(metrics.BytesOut),
		of:   ofBoth,
	},
	{
		name: "tickrate_sent_section_bytes_total", unit: "bytes", labels: []string{"section"},
		help: "UDP payload out by section, exact: the sections add up to all bytes sent until the last " +
			"full second.",
		read: bySection(func(b *bandwidth) *[metrics.NumSections]uint64 { return &b.Sections }),
	},
	{
		name: "tickrate_bandwidth_sampled_datagrams_total", unit: "datagrams",
		help: "Datagrams out that were accounted for to the bit.",
		read: func(s *sink) { s.counter(float64(s.summary.Bandwidth.Sampled)) },
	},
	{
		name: "tickrate_bandwidth_sampled_section_bytes_total", unit: "bytes",
		labels: []string{"section"},
		help:   "Bytes of the sampled datagrams by section.",
		read:   bySection(func(b *bandwidth) *[metrics.NumSections]uint64 { return &b.SampledSections }),
	},
	{
		name: "tickrate_bandwidth_sampled_bytes_total", unit: "bytes, in eighths",
		labels: []string{"component", "field", "reason"},
		help: "Bytes of the sampled datagrams by component, field and reason, to an eighth. They add up to " +
			"the sampled sections exactly.",
		read: readCells,
	},
	{
		name: "tickrate_aim_score", unit: "1",
		help: "Aim score of each player with a hit, once a second. 0 is human aim, or fewer than 8 hits; 1 is " +
			"aim that no person has (native histogram). No player is punished by it.",
		read: natives(func(s *stats) *meter.Native { return s.Aim }),
	},
	{
		name: "tickrate_snapshot_bytes", unit: "bytes",
		help: "UDP payload of a snapshot to one client (native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.SnapshotBytes }),
	},
	{
		name: "tickrate_snapshots_total", unit: "snapshots",
		help: "Snapshots sent.",
		read: counts(metrics.Snapshots),
	},
	{
		name: "tickrate_snapshots_delayed_total", unit: "snapshots", labels: []string{"reason"},
		help: "Snapshots that were due and not sent.",
		read: readDelayed,
	},
	{
		name: "tickrate_snapshots_over_budget_total", unit: "snapshots",
		help: "Snapshots without room for all changed rows.",
		read: counts(metrics.SnapshotsOverBudget),
	},
	{
		name: "tickrate_snapshots_clipped_total", unit: "snapshots",
		help: "Snapshots in which the farthest rows were clipped to fit the bandwidth.",
		read: counts(metrics.SnapshotsClipped),
	},
	{
		name: "tickrate_snapshots_objects_over_budget_total", unit: "snapshots",
		help: "Snapshots without room for all changed objects.",
		read: counts(metrics.ObjectsOverBudget),
	},
	{
		name: "tickrate_projectiles_no_slot_total", unit: "projectile ticks",
		help: "Projectiles without a free slot, in each tick: clients do not see them.",
		read: counts(metrics.ProjectilesNoSlot),
	},
	{
		name: "tickrate_spawns_refused_total", unit: "entities",
		help: "Entities that were not spawned, since their kind was at its capacity " +
			"(inspect world lists kinds).",
		read: counts(metrics.SpawnsRefused),
	},
	{
		name: "tickrate_snapshot_checksum_mismatches_total", unit: "snapshots",
		help: "Snapshots that a client decoded to other rows than were sent.",
		read: counts(metrics.ChecksumMismatches),
	},
	{
		name: "tickrate_snapshots_sampled_total", unit: "snapshots",
		help: "Snapshots sampled for what became of players and objects.",
		read: func(s *sink) { s.counter(float64(s.summary.Replication.Snapshots)) },
	},
	{
		name: "tickrate_sampled_players_total", unit: "players", labels: []string{"reason"},
		help: "Players in the sampled snapshots, by whether they were replicated, and why not.",
		read: readPlayers,
	},
	{
		name: "tickrate_sampled_objects_total", unit: "objects", labels: []string{"class", "reason"},
		help: "Objects (projectiles, grenades, barrels, cubes, teleporters, zones) in the sampled " +
			"snapshots, by class and by whether they were replicated, and why not; reasons without a " +
			"count have no series.",
		read: readObjects,
	},
	{
		name: "tickrate_resyncs_total", unit: "clients",
		help: "Clients that lost their baselines and began anew.",
		read: counts(metrics.Resyncs),
	},
	{
		name: "tickrate_packets_seal_failed_total", unit: "packets",
		help: "Packets that could not be encrypted.",
		read: counts(metrics.SealFailed),
	},
	{
		name: "tickrate_amplification_blocked_datagrams_total", unit: "datagrams",
		help: "Answers to unproven addresses that were withheld because they were too long: a bug.",
		read: counts(metrics.AmplificationBlocked),
		of:   ofBoth,
	},

	{
		name: "tickrate_client_rtt_seconds", unit: "seconds",
		help: "Smoothed round trip of every client, once a second (native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.RTT }),
	},
	{
		name: "tickrate_client_rtt_deviation_seconds", unit: "seconds",
		help: "Mean deviation of the round trip of every client, once a second (native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.RTTVar }),
	},
	{
		name: "tickrate_input_buffer_seconds", unit: "seconds",
		help: "Lead of every client's commands over the match, once a second (native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.InputBuffer }),
	},
	{
		name: "tickrate_inputs_total", unit: "commands", labels: []string{"result"}, strip: "inputs_",
		help: "Commands by result. A tick of a player without a command counts, too.",
		read: counts(inputCounts...),
	},

	{
		name: "tickrate_shots_total", unit: "shots",
		help: "Shots.",
		read: counts(metrics.Shots),
	},
	{
		name: "tickrate_shots_clamped_total", unit: "shots",
		help: "Shots with a claimed view outside what the server knows to be possible.",
		read: counts(metrics.ShotsClamped),
	},
	{
		name: "tickrate_shot_clamped_seconds", unit: "seconds",
		help: "Time by which claimed views were clamped (native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.ViewClamp }),
	},
	{
		name: "tickrate_hit_rewind_seconds", unit: "seconds",
		help: "Age of the view of shots that hit: the target may have been in cover for that long " +
			"(native histogram).",
		read: natives(func(s *stats) *meter.Native { return s.Rewind }),
	},
	{
		name: "tickrate_shots_stale_view_total", unit: "shots",
		help: "Shots across a target that the shooter's client has not been sent for too long: they miss it.",
		read: counts(metrics.ShotsStaleView),
	},
	{
		name: "tickrate_hits_filtered_total", unit: "shots",
		help: "Shots that would have hit a target not replicated to the shooter.",
		read: counts(metrics.HitsFiltered),
	},
	{
		name: "tickrate_hits_total", unit: "hits",
		help: "Hits.",
		read: counts(metrics.Hits),
	},
	{
		name: "tickrate_kills_total", unit: "kills", brief: true,
		help: "Kills.",
		read: counts(metrics.Kills),
	},
	{
		name: "tickrate_lag_switches_suspected_total", unit: "clients",
		help: "Times a client was silent for so long that its shots are judged without rewind, until it " +
			"answers. A lag switch does this.",
		read: counts(metrics.LagSwitchSuspected),
	},

	{
		name: "tickrate_sessions_total", unit: "sessions", labels: []string{"event"},
		help: "Session events by kind.",
		read: counts(sessionCounts...),
		of:   ofBoth,
	},
	{
		name: "tickrate_content_requests_total", unit: "requests",
		help: "Models and maps that clients asked for.",
		read: counts(metrics.ContentRequests),
	},
	{
		name: "tickrate_content_requests_refused_total", unit: "requests",
		help: "Requests for content that came twice or too late.",
		read: counts(metrics.ContentRefused),
	},
	{
		name: "tickrate_content_bytes_total", unit: "bytes",
		help: "UDP payload out with models, maps and killcams.",
		read: counts(metrics.ContentBytes),
	},
	{
		name: "tickrate_killcams_total", unit: "killcams",
		help: "Killcams whose sending began.",
		read: counts(metrics.Killcams),
	},
	{
		name: "tickrate_killcams_too_long_total", unit: "killcams",
		help: "Killcams not sent because of their size.",
		read: counts(metrics.KillcamsTooLong),
	},
	{
		name: "tickrate_map_changes_total", unit: "changes",
		help: "Times the map was changed.",
		read: counts(metrics.MapChanges),
	},
	{
		name: "tickrate_map_changes_failed_total", unit: "changes",
		help: "Times a map change failed.",
		read: counts(metrics.MapChangesFailed),
	},
	{
		name: "tickrate_stale_map_epoch_total", unit: "messages",
		help: "Messages and commands of an earlier map, which were ignored.",
		read: counts(metrics.StaleMapEpoch),
	},
	{
		name: "tickrate_spectate_refused_total", unit: "requests",
		help: "Requests of spectators for a view that they may not have.",
		read: counts(metrics.SpectateRefused),
	},
	{
		name: "tickrate_recordings_truncated_total", unit: "recordings",
		help: "Recordings that ended before their round because writing failed.",
		read: counts(metrics.RecordingsTruncated),
	},
	{
		name: "tickrate_recording_chunks_dropped_total", unit: "chunks",
		help: "Chunks of a recording, a second each, that were dropped because earlier ones were not encoded " +
			"in time.",
		read: counts(metrics.RecordingChunksDropped),
	},
	{
		name: "tickrate_dash_frames_dropped_total", unit: "frames",
		help: "Frames of the live page that a reader was too slow for.",
		read: counts(metrics.DashFramesDropped),
	},
	{
		name: "tickrate_dash_slow_kicked_total", unit: "readers",
		help: "Readers of the live page that took nothing for seconds.",
		read: counts(metrics.DashSlowKicked),
	},
	{
		name: "tickrate_http_refused_total", unit: "requests",
		help: "Requests that were refused: of other sites, without the secret where one is needed, or too many.",
		read: counts(metrics.HTTPRefused),
		of:   ofBoth,
	},
	{
		name: "tickrate_reliable_dropped_total", unit: "messages",
		help: "Reliable messages dropped because the queue of a connection was full.",
		read: counts(metrics.ReliableDropped),
	},
	{
		name: "tickrate_messages_unknown_total", unit: "messages",
		help: "Messages from clients with an unknown tag.",
		read: counts(metrics.MessagesUnknown),
	},
	{
		name: "tickrate_roster_messages_total", unit: "messages",
		help: "Messages with names of players.",
		read: counts(metrics.RosterMessages),
	},
	{
		name: "tickrate_score_bytes_total", unit: "bytes",
		help: "Bytes of messages with rows of the score board.",
		read: counts(metrics.ScoreBytes),
	},
	{
		name: "tickrate_chat_lines_total", unit: "lines", labels: []string{"result"}, strip: "chat_",
		help: "Chat lines, and their deliveries.",
		read: counts(metrics.ChatLines, metrics.ChatRateLimited, metrics.ChatDelivered,
			metrics.ChatUndelivered),
	},
	{
		name: "tickrate_chat_lines_refused_total", unit: "lines", labels: []string{"reason"}, strip: "chat_",
		help: "Chat lines that were refused.",
		read: byReason(chat.RefusedNone+1, func(s *stats) []meter.Counter { return s.ChatRefused[:] }),
	},
	{
		name: "tickrate_console_lines_total", unit: "lines",
		help: "Console lines of players.",
		read: counts(metrics.ConsoleLines),
	},
	{
		name: "tickrate_console_lines_failed_total", unit: "lines",
		help: "Console lines of players that ended in an error.",
		read: counts(metrics.ConsoleFailed),
	},
}

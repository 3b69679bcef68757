package metrics

// Count names one counter of a lobby. Counters only grow.
type Count int

// The counters. Received equals Accepted plus the sums of Stats.AuthDrops and Stats.PacketDrops,
// always.
const (
	Received      Count = iota // datagrams in
	Accepted                   // datagrams in that were not dropped
	BytesIn                    // UDP payload in
	Sent                       // datagrams out
	BytesOut                   // UDP payload out
	InputsUsed                 // player ticks that ran with the player's own command
	InputsMissing              // player ticks that ran without a command
	// Commands that came before: clients repeat them until they are acked.
	InputsDuplicate
	InputsStale    // commands for ticks that have been played
	InputsFuture   // commands for ticks too far ahead
	InputsConflict // commands that differ from one that waits for the same tick
	InputsClamped  // commands with a field out of range, which was clamped
	Shots          // shots fired
	// shots with a claimed view outside what the server knows to be possible
	ShotsClamped
	Hits            // shots that hit a player
	Kills           // players killed
	ReliableDropped // reliable messages dropped because the queue of a connection was full
	MessagesUnknown // messages from clients with an unknown tag
	Joined          // sessions that got a player
	Left            // sessions that the client ended
	TimedOut        // sessions that fell silent
	Disconnected    // sessions that the lobby ended with a reason
	// sessions that got the player of an earlier one; those that took over a live one are not in
	// Joined
	Reconnected
	Takeovers // of these, sessions that took over a live session
	Migrated  // sessions that continued at another address
	// sessions ended because they sent far too much; those with a player are in Disconnected
	FloodKicked
	// answers to unproven addresses that were withheld because they were too long: a bug
	AmplificationBlocked
	SealFailed          // packets that could not be encrypted
	UnbalancedTicks     // ticks after which Received did not equal its parts: a bug
	Resyncs             // clients that lost their baselines and began anew
	Snapshots           // snapshots sent; with the next three, all that were due
	SnapshotsThrottled  // not sent: the bandwidth limit of the client was used up
	SnapshotsAckStalled // not sent: nothing was heard from the client
	SnapshotsUnacked    // not sent: the client acks nothing, and each would need no baseline
	// times a client in play fell silent and lost lag compensation until it answers
	LagSwitchSuspected
	ShotsStaleView      // shots across a target that left the shooter's view too long ago
	HitsFiltered        // shots that would have hit a target not replicated to the shooter
	ChecksumMismatches  // snapshots that a client decoded to other rows than were sent
	SnapshotsOverBudget // snapshots without room for all changed rows
	// snapshots in which the farthest rows were clipped to fit the bandwidth
	SnapshotsClipped
	ObjectsOverBudget // snapshots without room for all changed objects
	ProjectilesNoSlot // projectile ticks without a free slot: no client is told
	SpawnsRefused     // entities that were not spawned: their kind was at its capacity
	ContentRequests   // models and maps that clients asked for
	ContentRefused    // requests for content that came twice or too late
	ContentBytes      // UDP payload out with content and killcams, which is in BytesOut
	Killcams          // killcams begun to be sent
	KillcamsTooLong   // killcams not sent because of their size
	RosterMessages    // messages with names of players
	ScoreBytes        // bytes of messages with rows of the score board
	ChatLines         // chat lines received
	// lines to everybody refused by the lobby's rate limit; other refusals are in Stats.ChatRefused
	ChatRateLimited
	ChatDelivered // lines queued for one receiver each, of players and of the server
	// lines that a receiver missed because its queue or its bandwidth was full
	ChatUndelivered
	ConsoleLines        // console lines of players
	ConsoleFailed       // of these, lines that ended in an error
	IdleWarned          // players warned for being idle
	IdleKicked          // players removed for being idle; also counted in Disconnected
	MapChanges          // times the map was changed
	MapChangesFailed    // times a map change failed
	StaleMapEpoch       // messages and commands of an earlier map, which were ignored
	TicksPlayed         // ticks of the match; with those slept and skipped, all that were due
	TicksSlept          // ticks not played because the lobby was empty
	RejectedFull        // sessions rejected because no slot of their kind was free
	SpectatorsShed      // spectators kicked by overload; also counted in Disconnected
	SpectateRefused     // requests of spectators for a view that they may not have
	RecordingsTruncated // recordings that ended before their round because writing failed
	// seconds of a recording that were dropped because earlier ones were not encoded in time
	RecordingChunksDropped
	DashFramesDropped // frames of the live page that a reader was too slow for
	DashSlowKicked    // readers of the live page that took nothing for too long
	HTTPRefused       // requests to the HTTP port that were refused
	NumCounts         // how many there are
)

var countNames = [NumCounts]string{
	Received: "rx_datagrams", Accepted: "rx_accepted", BytesIn: "rx_bytes",
	Sent: "tx_datagrams", BytesOut: "tx_bytes",
	InputsUsed: "inputs_used", InputsMissing: "inputs_missing", InputsDuplicate: "inputs_duplicate",
	InputsStale: "inputs_stale", InputsFuture: "inputs_future", InputsConflict: "inputs_conflict",
	InputsClamped: "inputs_clamped",
	Shots:         "shots", ShotsClamped: "shots_clamped", Hits: "hits", Kills: "kills",
	ReliableDropped: "reliable_dropped", MessagesUnknown: "messages_unknown",
	Joined: "joined", Left: "left", TimedOut: "timed_out", Disconnected: "disconnected",
	Reconnected: "reconnected", Takeovers: "takeovers", Migrated: "migrated", FloodKicked: "flood_kicked",
	AmplificationBlocked: "amplification_blocked", SealFailed: "seal_failed",
	UnbalancedTicks: "unbalanced_ticks", Resyncs: "resyncs",
	Snapshots: "snapshots", SnapshotsThrottled: "snapshots_throttled",
	SnapshotsAckStalled: "snapshots_ack_stalled", SnapshotsUnacked: "snapshots_unacked",
	LagSwitchSuspected: "lag_switch_suspected",
	ShotsStaleView:     "shots_stale_view", HitsFiltered: "hits_filtered",
	ChecksumMismatches: "checksum_mismatches", SnapshotsOverBudget: "snapshots_over_budget",
	SnapshotsClipped: "snapshots_clipped", ObjectsOverBudget: "objects_over_budget",
	ProjectilesNoSlot: "projectiles_no_slot", SpawnsRefused: "spawns_refused",
	ContentRequests: "content_requests", ContentRefused: "content_refused", ContentBytes: "content_bytes",
	Killcams: "killcams", KillcamsTooLong: "killcams_too_long", RosterMessages: "roster_messages",
	ScoreBytes: "score_bytes",
	ChatLines:  "chat_lines", ChatRateLimited: "chat_rate_limited", ChatDelivered: "chat_delivered",
	ChatUndelivered: "chat_undelivered", ConsoleLines: "console_lines", ConsoleFailed: "console_failed",
	IdleWarned: "idle_warned", IdleKicked: "idle_kicked", MapChanges: "map_changes",
	MapChangesFailed: "map_changes_failed", StaleMapEpoch: "stale_map_epoch", TicksSlept: "ticks_slept",
	TicksPlayed:  "ticks_played",
	RejectedFull: "rejected_full", SpectatorsShed: "spectators_shed", SpectateRefused: "spectate_refused",
	RecordingsTruncated: "recordings_truncated", RecordingChunksDropped: "recording_chunks_dropped",
	DashFramesDropped: "dash_frames_dropped",
	DashSlowKicked:    "dash_slow_kicked", HTTPRefused: "http_refused",
}

// String is the counter's name in reports.
func (c Count) String() string { return countNames[c] }

package server

import (
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// lobbyName is what labels call the lobby of a host.
const lobbyName = "0"

// A scrape reads what the tick writes anyway: atomics, and copies that the tick makes once a second unless somebody is just reading
// them. The tick never waits for one. A reader has scrapeSeconds to take his answer, and there are few at a time.
const (
	scrapeSeconds = 10
	scrapes       = 4
)

// collector tells the figures of a host to Prometheus. Labels are lobby, stage, and words of lists that are fixed at build time:
// never a client, so the number of series does not grow with the players.
type collector struct{ h *Host }

// metric is one of the metricTable below: a name of the conventions, what it is, and what it reads.
type metric struct {
	name, help string
	labels     []string // behind lobby
	unit       string   // as docs/metrics.md says it
	read       func(h *Host, m *metric, out *sink)
	desc       *prometheus.Desc
}

// sink takes the values of a metric.
type sink struct {
	ch      chan<- prometheus.Metric
	summary *Summary
	*metric
}

func (s *sink) counter(v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(s.desc, prometheus.CounterValue, v, append([]string{lobbyName}, labels...)...)
}

func (s *sink) gauge(v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, v, append([]string{lobbyName}, labels...)...)
}

func (s *sink) native(n *meter.Native, labels ...string) {
	s.ch <- &distribution{desc: s.desc, count: n.Read(), labels: append([]string{lobbyName}, labels...), names: append([]string{"lobby"}, s.metric.labels...)}
}

// counts reads a row of counters.
func counts(of ...metrics.Count) func(*Host, *metric, *sink) {
	return func(h *Host, m *metric, out *sink) {
		for _, c := range of {
			v := float64(h.lobby.Stats.Count[c].Load())
			if len(m.labels) > 0 {
				out.counter(v, c.String())
			} else {
				out.counter(v)
			}
		}
	}
}

func natives(of func(*metrics.Stats) *meter.Native) func(*Host, *metric, *sink) {
	return func(h *Host, _ *metric, out *sink) { out.native(of(&h.lobby.Stats)) }
}

func byStage(of func(*metrics.Stats) []*meter.Native) func(*Host, *metric, *sink) {
	return func(h *Host, _ *metric, out *sink) {
		for i, n := range of(&h.lobby.Stats) {
			out.native(n, metrics.Stage(i).String())
		}
	}
}

// reasons reads counters by reason, from the first that is one.
func reasons[R interface {
	~int | ~uint8
	String() string
}](first R, of func(*metrics.Stats) []meter.Counter) func(*Host, *metric, *sink) {
	return func(h *Host, _ *metric, out *sink) {
		all := of(&h.lobby.Stats)
		for r := first; int(r) < len(all); r++ {
			out.counter(float64(all[r].Load()), r.String())
		}
	}
}

func census(of func(Census) int) func(*Host, *metric, *sink) {
	return func(_ *Host, _ *metric, out *sink) { out.gauge(float64(of(out.summary.Census))) }
}

func socket(of func(h *Host) uint64) func(*Host, *metric, *sink) {
	return func(h *Host, _ *metric, out *sink) { out.counter(float64(of(h))) }
}

// inputReasons are the counters of what became of commands and of ticks without.
var inputReasons = []metrics.Count{metrics.InputsUsed, metrics.InputsMissing, metrics.InputsDuplicate, metrics.InputsStale, metrics.InputsFuture, metrics.InputsConflict, metrics.InputsClamped}

// metrics is the metricTable, in the order of docs/metrics.md, which is written from it.
var metricTable = []metric{
	{name: "tickrate_lobby_players", unit: "players", help: "Players with a session, without spectators.", read: census(func(c Census) int { return c.Players })},
	{name: "tickrate_lobby_players_ready", unit: "players", help: "Players and spectators who get snapshots.", read: census(func(c Census) int { return c.Ready })},
	{name: "tickrate_lobby_players_entering", unit: "players", help: "Of those, the ones who do not hold all that they see yet.", read: census(func(c Census) int { return c.Joining })},
	{name: "tickrate_lobby_players_away", unit: "players", help: "Players and spectators whose session timed out and who may come back.", read: census(func(c Census) int { return c.Reconnectable })},
	{name: "tickrate_lobby_sessions_waiting", unit: "sessions", help: "Sessions that wait for a player.", read: census(func(c Census) int { return c.Arriving })},
	{name: "tickrate_lobby_players_max", unit: "players", help: "Most players at a time.", read: census(func(c Census) int { return c.PlayerSlots })},
	{name: "tickrate_lobby_spectators", unit: "spectators", help: "Spectators with a session.", read: census(func(c Census) int { return c.Spectators })},
	{name: "tickrate_lobby_spectators_max", unit: "spectators", help: "Most spectators at a time.", read: census(func(c Census) int { return c.SpectatorSlots })},
	{name: "tickrate_lobby_shed_level", unit: "rungs", help: "What is left out because ticks take too long: 0 nothing, 1 half of the snapshots, 2 three of four, 3 detail too, 4 spectators, 5 newcomers, 6 time: the match runs slower.",
		read: func(h *Host, _ *metric, out *sink) { out.gauge(float64(h.shed.Load())) }},
	{name: "tickrate_lobby_state", unit: "0 or 1", labels: []string{"state"}, help: "1 for the state that the lobby is in: starting, open, full, shedding, stuck or ended.", read: func(h *Host, _ *metric, out *sink) {
		is := h.state()
		for s := range numStates {
			v := 0.0
			if s == is {
				v = 1
			}
			out.gauge(v, s.String())
		}
	}},
	{name: "tickrate_tick_period_seconds", unit: "seconds", help: "Time from one tick to the next by schedule.", read: func(h *Host, _ *metric, out *sink) { out.gauge(h.rates.Simulation.Period().Seconds()) }},
	{name: "tickrate_tick_cpu_seconds", unit: "seconds", help: "CPU time of a tick, or of several that were played at once (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.TickCPU })},
	{name: "tickrate_tick_duration_seconds", unit: "seconds", help: "Time elapsed in a tick, or in several that were played at once (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.TickWall })},
	{name: "tickrate_tick_lateness_seconds", unit: "seconds", help: "How late ticks began, from the scheduled instant; ticks given up count (native histogram).",
		read: func(h *Host, _ *metric, out *sink) { out.native(h.delays) }},
	{name: "tickrate_stage_cpu_seconds", unit: "seconds", labels: []string{"stage"}, help: "CPU time of a stage in one tick of 16 (native histogram).", read: byStage(func(s *metrics.Stats) []*meter.Native { return s.StageCPU })},
	{name: "tickrate_stage_duration_seconds", unit: "seconds", labels: []string{"stage"}, help: "Time elapsed in a stage in one tick of 16 (native histogram).", read: byStage(func(s *metrics.Stats) []*meter.Native { return s.StageWall })},
	{name: "tickrate_ticks_overrun_total", unit: "ticks", help: "Ticks that took longer than their period.", read: func(h *Host, _ *metric, out *sink) { out.counter(float64(h.overruns.Load())) }},
	{name: "tickrate_ticks_given_up_total", unit: "ticks", help: "Ticks given up after a stall.", read: func(h *Host, _ *metric, out *sink) { out.counter(float64(h.stalls.Load())) }},
	{name: "tickrate_ticks_caught_up_total", unit: "ticks", help: "Ticks played late, in a frame with others.", read: func(h *Host, _ *metric, out *sink) { out.counter(float64(h.caught.Load())) }},
	{name: "tickrate_ticks_slept_total", unit: "ticks", help: "Ticks not played, as nobody was here.", read: counts(metrics.TicksSlept)},
	{name: "tickrate_frames_shed_total", unit: "frames", labels: []string{"rung"}, help: "Frames of a tick, or of several, on each rung of overload.", read: func(h *Host, _ *metric, out *sink) {
		for s := range overload.NumLevels {
			out.counter(float64(h.lobby.Stats.LoadLevel[s].Load()), s.String())
		}
	}},
	{name: "tickrate_ticks_unbalanced_total", unit: "ticks", help: "Ticks after which the datagrams received were not those accepted, refused and dropped: a bug.", read: counts(metrics.UnbalancedTicks)},

	{name: "tickrate_received_datagrams_total", unit: "datagrams", help: "Datagrams in.", read: counts(metrics.Received)},
	{name: "tickrate_received_bytes_total", unit: "bytes", help: "UDP payload in.", read: counts(metrics.BytesIn)},
	{name: "tickrate_accepted_datagrams_total", unit: "datagrams", help: "Datagrams in that were neither refused nor dropped.", read: counts(metrics.Accepted)},
	{name: "tickrate_refused_datagrams_total", unit: "datagrams", labels: []string{"reason"}, help: "Datagrams in that the gate did not open.", read: reasons(netcode.DropNone+1, func(s *metrics.Stats) []meter.Counter { return s.AuthDrops[:] })},
	{name: "tickrate_dropped_packages_total", unit: "packages", labels: []string{"reason"}, help: "Packages in that were not taken.", read: reasons(packet.DropNone+1, func(s *metrics.Stats) []meter.Counter { return s.PacketDrops[:] })},
	{name: "tickrate_socket_lost_datagrams_total", unit: "datagrams", help: "Datagrams lost on this side of the network.", read: socket(func(h *Host) uint64 { return h.conn.Stats().Lost() })},
	{name: "tickrate_sent_datagrams_total", unit: "datagrams", help: "Datagrams out.", read: counts(metrics.Sent)},
	{name: "tickrate_sent_bytes_total", unit: "bytes", help: "UDP payload out.", read: counts(metrics.BytesOut)},
	{name: "tickrate_sent_section_bytes_total", unit: "bytes", labels: []string{"section"}, help: "UDP payload out by section, exact: the sections add up to all that was sent until the last full second.", read: func(_ *Host, _ *metric, out *sink) {
		for s, n := range out.summary.Bandwidth.Sections {
			out.counter(float64(n), metrics.Section(s).String())
		}
	}},
	{name: "tickrate_ledger_sampled_datagrams_total", unit: "datagrams", help: "Datagrams out that were accounted for to the bit.", read: func(_ *Host, _ *metric, out *sink) { out.counter(float64(out.summary.Bandwidth.Sampled)) }},
	{name: "tickrate_ledger_sampled_section_bytes_total", unit: "bytes", labels: []string{"section"}, help: "Bytes of the sampled datagrams by section.", read: func(_ *Host, _ *metric, out *sink) {
		for s, n := range out.summary.Bandwidth.SampledSections {
			out.counter(float64(n), metrics.Section(s).String())
		}
	}},
	{name: "tickrate_ledger_sampled_bytes_total", unit: "bytes, in eighths", labels: []string{"component", "field", "reason"}, help: "Bits of the sampled datagrams, each in one series: by component, its field, and the reason they were sent. They add up to the sampled section exactly.", read: func(_ *Host, _ *metric, out *sink) {
		for _, c := range out.summary.Bandwidth.Cells {
			out.counter(float64(c.Bits)/8, c.Component, c.Field, c.Reason)
		}
	}},
	{name: "tickrate_aim_score", unit: "1", help: "Of every player who has hit somebody, once a second: 0 aims as people do, 1 as no hand does (native histogram); nobody is punished by it.", read: natives(func(s *metrics.Stats) *meter.Native { return s.Aim })},
	{name: "tickrate_snapshot_bytes", unit: "bytes", help: "UDP payload of a snapshot to one client (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.SnapshotBytes })},
	{name: "tickrate_snapshots_total", unit: "snapshots", help: "Snapshots sent.", read: counts(metrics.Snapshots)},
	{name: "tickrate_snapshots_held_total", unit: "snapshots", labels: []string{"reason"}, help: "Snapshots that were due and not sent.", read: func(h *Host, _ *metric, out *sink) {
		for i, c := range []metrics.Count{metrics.SnapshotsAckStalled, metrics.SnapshotsUnacked, metrics.SnapshotsThrottled} {
			out.counter(float64(h.lobby.Stats.Count[c].Load()), DelayReason(i+1).String())
		}
	}},
	{name: "tickrate_snapshots_squeezed_total", unit: "snapshots", help: "Snapshots that had no room for all rows.", read: counts(metrics.SnapshotsOverBudget)},
	{name: "tickrate_snapshots_narrowed_total", unit: "snapshots", help: "Snapshots in which the farthest rows were out of sight, as the line cannot carry so many.", read: counts(metrics.SnapshotsClipped)},
	{name: "tickrate_snapshots_things_squeezed_total", unit: "snapshots", help: "Snapshots that had no room for all there was to say of things.", read: counts(metrics.ObjectsOverBudget)},
	{name: "tickrate_flights_untold_total", unit: "flights", help: "Flights of all ticks for which the lobby had no slot: nobody is told of them.", read: counts(metrics.ProjectilesNoSlot)},
	{name: "tickrate_snapshots_diverged_total", unit: "snapshots", help: "Snapshots that a client decoded to other rows than were sent.", read: counts(metrics.ChecksumMismatches)},
	{name: "tickrate_snapshots_sampled_total", unit: "snapshots", help: "Snapshots of which it was looked at who is in them.", read: func(_ *Host, _ *metric, out *sink) { out.counter(float64(out.summary.Replication.Snapshots)) }},
	{name: "tickrate_sampled_entities_total", unit: "entities", labels: []string{"why"}, help: "Players in the sampled snapshots, by whether they were told, and why not.", read: func(_ *Host, _ *metric, out *sink) {
		for w, n := range out.summary.Replication.Players {
			out.counter(float64(n), Reason(w).String())
		}
	}},
	{name: "tickrate_sampled_things_total", unit: "things", labels: []string{"class", "why"}, help: "Things (projectiles, grenades, barrels, cubes, teleporters, zones) in the sampled snapshots, by class, whether they were told, and why not; reasons that never came up have no series.", read: func(_ *Host, _ *metric, out *sink) {
		for kind := netstate.Kind(1); kind < netstate.Kinds; kind++ {
			for w, n := range out.summary.Replication.Objects[kind] {
				if n > 0 || Reason(w) == ReasonSent {
					out.counter(float64(n), kind.String(), Reason(w).String())
				}
			}
		}
	}},
	{name: "tickrate_resyncs_total", unit: "clients", help: "Clients that lost their baselines and began anew.", read: counts(metrics.Resyncs)},
	{name: "tickrate_packages_unsent_total", unit: "packages", help: "Packages that could not be sealed.", read: counts(metrics.SealFailed)},
	{name: "tickrate_amplified_datagrams_total", unit: "datagrams", help: "Answers to unproven addresses that were withheld because they were too long: a bug.", read: counts(metrics.AmplificationBlocked)},

	{name: "tickrate_client_rtt_seconds", unit: "seconds", help: "Smoothed round trip of every client, once a second (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.RTT })},
	{name: "tickrate_client_rtt_deviation_seconds", unit: "seconds", help: "Mean deviation of the round trip of every client, once a second (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.RTTVar })},
	{name: "tickrate_input_buffer_seconds", unit: "seconds", help: "How far the commands of every client are ahead of the match, once a second (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.InputBuffer })},
	{name: "tickrate_inputs_total", unit: "commands", labels: []string{"result"}, help: "What became of commands, and player ticks that ran without.", read: counts(inputReasons...)},

	{name: "tickrate_shots_total", unit: "shots", help: "Shots.", read: counts(metrics.Shots)},
	{name: "tickrate_shots_clamped_total", unit: "shots", help: "Shots whose claimed view was moved into what the server knows to be possible.", read: counts(metrics.ShotsClamped)},
	{name: "tickrate_shot_clamped_seconds", unit: "seconds", help: "By how much claimed views were moved, of shots whose view was (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.ViewClamp })},
	{name: "tickrate_hit_rewind_seconds", unit: "seconds", help: "How far back whom a shot hit was, of shots that hit: it may have been in cover for so long (native histogram).", read: natives(func(s *metrics.Stats) *meter.Native { return s.Rewind })},
	{name: "tickrate_shots_faded_total", unit: "shots", help: "Shots with somebody on their way whom their shooter saw too long ago, or said too late to have seen.", read: counts(metrics.ShotsStaleView)},
	{name: "tickrate_shots_unseen_total", unit: "shots", help: "Shots that would have hit somebody whom their shooter was not shown.", read: counts(metrics.HitsFiltered)},
	{name: "tickrate_hits_total", unit: "hits", help: "Hits.", read: counts(metrics.Hits)},
	{name: "tickrate_kills_total", unit: "kills", help: "Kills.", read: counts(metrics.Kills)},
	{name: "tickrate_lagswitches_suspected_total", unit: "clients", help: "Times a client in play fell silent for so long that its shots look at the present.", read: counts(metrics.LagSwitchSuspected)},

	{name: "tickrate_sessions_total", unit: "sessions", labels: []string{"event"}, help: "What happened to sessions.", read: counts(metrics.Joined, metrics.Left, metrics.TimedOut, metrics.Disconnected, metrics.Reconnected, metrics.Takeovers, metrics.Migrated, metrics.FloodKicked, metrics.IdleWarned, metrics.IdleKicked, metrics.RejectedFull, metrics.SpectatorsShed)},
	{name: "tickrate_content_fetches_total", unit: "fetches", help: "Models and maps that clients asked for.", read: counts(metrics.ContentRequests)},
	{name: "tickrate_content_fetches_refused_total", unit: "fetches", help: "Likewise a second time, or too late.", read: counts(metrics.ContentRefused)},
	{name: "tickrate_content_bytes_total", unit: "bytes", help: "UDP payload out with parts of models, maps and killcams.", read: counts(metrics.ContentBytes)},
	{name: "tickrate_killcams_total", unit: "killcams", help: "Killcams begun to be sent.", read: counts(metrics.Killcams)},
	{name: "tickrate_killcams_too_long_total", unit: "killcams", help: "Killcams not sent as they were too long.", read: counts(metrics.KillcamsTooLong)},
	{name: "tickrate_map_changes_total", unit: "changes", help: "Times the map was changed.", read: counts(metrics.MapChanges)},
	{name: "tickrate_map_changes_refused_total", unit: "changes", help: "Times it was to be and could not.", read: counts(metrics.MapChangesFailed)},
	{name: "tickrate_of_old_map_total", unit: "messages", help: "What clients said about a map that is not played any more, which was not taken.", read: counts(metrics.StaleMapEpoch)},
	{name: "tickrate_watch_refused_total", unit: "wishes", help: "Spectators' wishes to look where they may not.", read: counts(metrics.SpectateRefused)},
	{name: "tickrate_replay_truncated_total", unit: "recordings", help: "Recordings that ended before their round did, as they could not be written.", read: counts(metrics.RecordingsTruncated)},
	{name: "tickrate_dash_dropped_total", unit: "frames", help: "Frames of the live page that a reader was too slow for.", read: counts(metrics.DashFramesDropped)},
	{name: "tickrate_dash_kicked_slow_total", unit: "readers", help: "Readers of the live page who took nothing for seconds.", read: counts(metrics.DashSlowKicked)},
	{name: "tickrate_dash_refused_total", unit: "requests", help: "Requests for the live page that were refused: of other sites, or without the secret.", read: counts(metrics.DashRefused)},
	{name: "tickrate_events_refused_total", unit: "events", help: "Events that a client's full queue did not take.", read: counts(metrics.ReliableDropped)},
	{name: "tickrate_events_unknown_total", unit: "events", help: "Events from clients that mean nothing here.", read: counts(metrics.MessagesUnknown)},
	{name: "tickrate_roster_events_total", unit: "events", help: "Events with names.", read: counts(metrics.RosterMessages)},
	{name: "tickrate_chat_lines_total", unit: "lines", labels: []string{"result"}, help: "Lines for the chat, and those who heard them or did not.", read: counts(metrics.ChatLines, metrics.ChatRateLimited, metrics.ChatDelivered, metrics.ChatUndelivered)},
	{name: "tickrate_chat_lines_refused_total", unit: "lines", labels: []string{"reason"}, help: "Lines for the chat that were refused.", read: reasons(chat.RefusedNone+1, func(s *metrics.Stats) []meter.Counter { return s.ChatRefused[:] })},
	{name: "tickrate_console_lines_total", unit: "lines", help: "Lines of guests for the console.", read: counts(metrics.ConsoleLines)},
	{name: "tickrate_console_lines_refused_total", unit: "lines", help: "Those that it did not carry out.", read: counts(metrics.ConsoleFailed)},
}

func init() {
	for i := range metricTable {
		m := &metricTable[i]
		m.desc = prometheus.NewDesc(m.name, m.help, append([]string{"lobby"}, m.labels...), nil)
	}
}

// Describe is of prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range metricTable {
		ch <- metricTable[i].desc
	}
}

// Collect is of prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	summary := c.h.lobby.Summary()
	for i := range metricTable {
		m := &metricTable[i]
		m.read(c.h, m, &sink{ch, &summary, m})
	}
}

// distribution is a native histogram, with a few classic buckets for who reads the text format.
type distribution struct {
	desc          *prometheus.Desc
	names, labels []string
	count         meter.NativeCount
}

// Desc is of prometheus.Metric.
func (d *distribution) Desc() *prometheus.Desc { return d.desc }

// classic is how many native buckets make a classic one: a factor of four.
const classic = 2 << meter.NativeSchema

// Write is of prometheus.Metric.
func (d *distribution) Write(out *dto.Metric) error {
	for i, name := range d.names {
		out.Label = append(out.Label, &dto.LabelPair{Name: new(name), Value: new(d.labels[i])})
	}
	n := &d.count
	h := &dto.Histogram{SampleCount: new(n.Count), SampleSum: new(n.Sum), Schema: new(int32(meter.NativeSchema)),
		ZeroThreshold: new(math.Ldexp(1, -128)), ZeroCount: new(n.Zero)}
	sum, was, gap, began := n.Zero, int64(0), int32(0), false
	gap = int32(n.Lowest)
	for i, c := range n.Counts {
		sum += c
		if at := n.Lowest + i; at%classic == 0 && i < len(n.Counts)-1 {
			h.Bucket = append(h.Bucket, &dto.Bucket{CumulativeCount: new(sum), UpperBound: new(math.Exp2(float64(at) / (1 << meter.NativeSchema)))})
		}
		if c == 0 {
			gap++
			began = false
			continue
		}
		if !began {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(gap), Length: new(uint32(0))})
			gap, began = 0, true
		}
		*h.PositiveSpan[len(h.PositiveSpan)-1].Length++
		h.PositiveDelta = append(h.PositiveDelta, int64(c)-was)
		was = int64(c)
	}
	if len(h.PositiveSpan) == 0 { // or it would be taken for a classic one
		h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(int32(0)), Length: new(uint32(0))})
	}
	out.Histogram = h
	return nil
}

// newRegistry has the metrics of a host, and those of the process and of Go's runtime.
func newRegistry(h *Host) (*prometheus.Registry, error) {
	r := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{collector{h}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return r, nil
}

// serveMetrics answers Prometheus.
func serveMetrics(r *prometheus.Registry) http.Handler {
	return hasty(promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes, ErrorLog: log.New(io.Discard, "", 0)}))
}

// hasty gives a reader scrapeSeconds to take an answer.
func hasty(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(scrapeSeconds * time.Second)) // some writers have none
		h.ServeHTTP(w, r)
	})
}

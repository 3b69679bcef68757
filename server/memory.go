package server

import "github.com/tickrate/tickrate/internal/footprint"

// Groups of owners: what a lobby alone has and many lobbies of one port have once, and what lobbies
// of one configuration have once. Others are a lobby's own.
const (
	ofLoop = "of its port"
	ofAll  = "shared"
)

// memoryOwners are the parts of a lobby that Memory tells apart, by their fields. What several of
// them reach counts for the first one.
var memoryOwners = []footprint.Owner{
	{Path: "cfg", Group: ofAll, Is: "map, content, models, dictionaries"},
	{Path: "rewind.log", Is: "records of shots"},
	{Path: "match.history", Is: "pose history"},
	{Path: "match.commandBuffers", Is: "commands that wait"},
	{Path: "match", Is: "the world: columns, systems' scratch"},
	{Path: "Stats.Histograms", Is: "histograms"},
	{Path: "port.netcode.tokens", Group: ofLoop, Is: "used connect tokens"},
	{Path: "port.netcode", Group: ofLoop, Is: "sessions, handshakes"},
	{Path: "replication.objects.frames", Is: "recent frames of objects"},
	{Path: "replication.objects.encoder", Is: "blocks and rows of a tick"},
	{Path: "replication.objects", Is: "slots, interest, row selection"},
	{Path: "replication.players.frames", Is: "recent frames of players"},
	{Path: "replication.players.encoder", Is: "blocks and rows of a tick"},
	{Path: "replication.players", Is: "interest, row selection"},
	{Path: "conns.session.peer", Is: "acks, messages, transfers"},
	{Path: "conns.repl", Is: "baselines, views"},
	{Path: "conns", Is: "sessions, pacing, rewind"},
	{Path: "recording", Is: "recording, killcams"},
	{Path: "flight", Is: "newest ticks, for a dump"},
	{Path: "port.egress", Group: ofLoop, Is: "datagrams that wait to be sent"},
	{Path: "port.ingress", Group: ofLoop, Is: "datagrams that were received"},
	{Path: "account", Is: "byte account"},
	{Path: "port", Group: ofLoop, Is: "routes"},
	{Path: "", Is: "roster, chat, console, the rest"},
}

// Memory returns the bytes that the lobby keeps, by owner. Owners of a group are what many lobbies
// have once for all. A port that several lobbies share counts as nothing. Call it
// between ticks.
func (l *Lobby) Memory() (parts []footprint.Part) {
	l.withoutOthers(func() { parts = footprint.Measure(l, memoryOwners) })
	return parts
}

// MemoryRegions returns where that memory is. Owners are indices of Memory.
func (l *Lobby) MemoryRegions() (regions []footprint.Region) {
	l.withoutOthers(func() { regions = footprint.Regions(l, memoryOwners) })
	return regions
}

// withoutOthers runs f while the lobby leads to no shared port, which leads to the other lobbies.
func (l *Lobby) withoutOthers(f func()) {
	if p := l.port; p.alone == nil {
		l.port = nil
		defer func() { l.port = p }()
	}
	f()
}

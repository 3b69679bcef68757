//go:build linux

package main

import (
	"fmt"
	"strconv"

	"github.com/tickrate/tickrate/peers/crowd"
	"github.com/tickrate/tickrate/peers/ddnet"
	"github.com/tickrate/tickrate/peers/quake3"
)

// side is one server to measure. Its clients are of this process, or the swarm's where there is no
// client.
type side struct {
	name      string
	beside    string // peer that it is compared with
	tick      int    // Hz
	snapshots int    // a second to one client
	command   func(p *plan, port, n int) []string
	client    func(n int) crowd.Client
}

// label names the server with its ticks and snapshots a second.
func (s side) label() string { return fmt.Sprintf("%s %d/%d", s.name, s.tick, s.snapshots) }

// sides in the order of the table: a peer, then ours as it is compared with it.
var sides = []side{
	{"OpenArena", "OpenArena", 20, 20, openArena, func(n int) crowd.Client { return quake3.New(n) }},
	ours("OpenArena", 20, 20),
	ours("OpenArena", 60, 20),
	{"DDNet", "DDNet", 50, 25, ddnetServer, func(n int) crowd.Client { return ddnet.New(n) }},
	ours("DDNet", 50, 25),
	ours("DDNet", 60, 30),
}

func ours(beside string, tick, snapshots int) side {
	return side{
		name: "tickrate", beside: beside, tick: tick, snapshots: snapshots,
		command: func(p *plan, port, n int) []string {
			return []string{
				p.binary, "serve", "--listen", loopback(port), "--http", loopback(port), "--players", strconv.Itoa(n),
				"--rate", strconv.Itoa(tick), "--snapshot-rate", strconv.Itoa(snapshots), "--map", "arena-16",
				"--relevance", "all", "--socket", p.socket,
			}
		},
	}
}

// openArena plays wrackdm17 by the game module in machine code, for this machine's network alone.
func openArena(_ *plan, port, _ int) []string {
	cmd := []string{"/usr/games/openarena-server"}
	for _, kv := range [][2]string{
		{"dedicated", "1"}, {"net_enabled", "1"}, {"net_ip", "127.0.0.1"}, {"net_port", strconv.Itoa(port)},
		{"vm_game", "0"}, {"sv_fps", "20"}, {"sv_maxclients", "64"}, {"sv_pure", "0"}, {"sv_floodProtect", "0"},
		{"sv_maxRate", "0"}, {"bot_enable", "0"}, {"bot_minplayers", "0"}, {"timelimit", "0"}, {"fraglimit", "0"},
		{"g_gametype", "0"}, {"g_inactivity", "0"}, {"com_hunkMegs", "128"},
	} {
		cmd = append(cmd, "+set", kv[0], kv[1])
	}
	return append(cmd, "+map", "wrackdm17")
}

// ddnetServer plays dm1, shows everybody to everybody and tells no master of itself.
func ddnetServer(_ *plan, port, _ int) []string {
	return []string{
		"/usr/games/DDNet-Server", "bindaddr 127.0.0.1", "sv_ipv4only 1", "sv_port " + strconv.Itoa(port),
		"sv_map dm1", "sv_register 0", "sv_max_clients 64", "sv_max_clients_per_ip 64", "sv_high_bandwidth 0",
		"sv_show_all_default 1", "sv_spamprotection 0", "sv_connlimit 1000", "sv_inactivekick 0",
		"sv_van_conn_per_second 1000",
	}
}

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

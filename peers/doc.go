// Command peers measures servers that people know beside ours: OpenArena's ioquake3 and DDNet, as
// Debian packages them, and bin/tickrate, on one machine, with as many players and as many
// snapshots a second, in alternation. Flags go in; a table, report/peers.md and report/peers.json
// come out. It binds to loopback alone and leaves no process behind.
package main

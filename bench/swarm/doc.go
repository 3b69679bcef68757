// Package swarm is a load generator: thousands of headless players on real UDP sockets, driven by
// one thread, and by a backup where the machine stalls it. A server's address, connect tokens and a
// Brain per player go in; Figures of what the players experienced come out, with the proof that the
// swarm kept its own schedule: otherwise the figures are void. One goroutine may call a Swarm.
package swarm

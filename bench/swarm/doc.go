// Package swarm is the load generator: many headless players on real sockets, driven by one goroutine, and a second one where it is held up. A server's
// address and a source of movement go in; figures of what the players experienced come out, and the proof that the
// swarm itself kept its schedule, without which the figures are worth nothing.
package swarm

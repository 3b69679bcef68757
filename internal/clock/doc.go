// Package clock reads the machine's clocks and waits for exact instants on them. Instants go in,
// wake-ups and measurements of lateness come out. It is the only package that sleeps: the shells
// around the sans-I/O core (server.Host, bench/swarm) own a Pacer each and pass its instants
// inwards.
package clock

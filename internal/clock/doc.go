// Package clock reads the machine's clocks and waits for exact instants on them. It is the only
// place that sleeps: the shells around the sans-I/O core (host.Host, bench/swarm) own a Pacer each
// and hand its instants inwards.
package clock

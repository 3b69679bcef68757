// Package agent plays the players of a load test on several machines.
//
// A coordinator has the server under test; agents have the players. Messages over NATS go between
// them, sealed by a key that all share. Two state machines decide: Coordinator and Agent take
// messages and instants and return messages and a Verdict; they start no goroutine and read no
// clock. Around them, Pool and Serve are the shells with the bus, the clock and the swarm.
//
//	coordinator            agent
//	             <- hello  name, build
//	ping         <- pong   heartbeat, and four instants for the offset of the clocks
//	prepare ->             scenario, servers, share of the players; agents connect
//	             <- ready  all players of the share have joined
//	start   ->             instant of the warm-up, by the agent's clock
//	                       no message is needed while players play
//	             <- report histograms and counts of the share
//	stop    ->             agents disconnect; abort does it early
package agent

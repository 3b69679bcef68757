// Package runner measures lobbies live: it starts server processes and a swarm of headless clients
// on real UDP sockets, and measures one size after another. A scenario goes in; measured steps and
// a report.Plan come out. It is a shell: it starts processes and goroutines, opens sockets and
// keeps server and swarm on processors of their own.
package runner

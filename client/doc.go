// Package client is one player's end of a session, headless: datagrams and their arrival times go in, and wishes; out
// come datagrams, events, the player's own predicted state, and a view of everybody else. It opens no socket, starts no
// goroutine and reads no clock, so the same code plays in a swarm, in a simulation of a whole lobby and behind a screen.
//
// The order of calls, once a frame or a tick, whichever the caller has:
//
//	for each datagram that has arrived:  c.Receive(now, datagram)
//	for range c.Advance(now):            c.Command(intent)
//	datagram, send := c.Append(now, buffer[:0])
//
// # Three clocks
//
// All three count the server's time, from the instant of tick 0. The server clock is what the fastest snapshot of the
// last two seconds says. The predicted clock says which tick a command must be for to arrive just before the server
// plays it: it runs ahead by the round trip and a buffer of about two ticks, and follows what the server reports of that
// buffer. The render clock runs behind, by two send intervals and the jitter, so that two snapshots lie around the
// instant that is looked at. They are steered by running up to 5 % faster or slower; only an error of a quarter of a
// second or more sets a clock anew, and that is counted.
//
// # What is predicted
//
// The player's own motion and rifle, with the very functions that the server runs. Every owner row is compared with
// what was predicted for its tick: equal, and nothing happens; different, and the row is adopted and the commands since
// are played again. Death and respawn are the server's to decide and are counted apart.
package client

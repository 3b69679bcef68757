// Package client is one player's end of a session, headless: datagrams and their arrival times go in, and wishes; out
// come datagrams, events, the player's own predicted state, and a view of everybody else. It opens no socket, starts no
// goroutine and reads no clock, so the same code plays in a swarm, in a simulation of a whole lobby and behind a screen.
//
// The order of calls, once a frame or a tick, whichever the caller has:
//
//	for each datagram that has arrived:      c.Receive(now, datagram)
//	for range c.Advance(now):                c.Command(intent)
//	for each datagram of c.Outgoing(now):    send it
//
// What happened comes from NextEvent, and what is said from NextLine, with names that Player knows; a player speaks by Say.
//
// # Getting in
//
// A client is made from a connect token, which a backend that shares a key with the server has minted for this player and
// this attempt. The token names the server, and holds the keys that everything is sealed with (package netcode). The first
// event inside the session is the server's Welcome: who we are, and what there must be to play. If we have it, we answer
// with Ready, are Joined, and snapshots begin. If not, and Config.Fetch is set, we ask for the model or the map that we lack,
// and stay Connecting until it is here and has the hash that the Welcome named; else we are Denied and say goodbye. A session outlives a change of our
// address. One that was lost otherwise is not taken up again: whoever comes back with another Client and a fresh token of
// the same client id finds the same player, for a while.
//
// # Three clocks
//
// All three count the server's time, from the instant of tick 0. The server clock is what the fastest snapshot of the
// last two seconds says. The predicted clock says which tick a command must be for to arrive just before the server
// plays it: it runs ahead by the round trip and a buffer of about two ticks, and follows what the server reports of that
// buffer. The render clock runs behind, by two send intervals and the jitter, so that two snapshots lie around the
// instant that is looked at. They are steered by running up to 5 % faster or slower; only an error of a quarter of a
// second or more sets a clock anew, and that is counted, and an EventReset.
//
// Jitter is a percentile of the newest 64 arrivals or reports. Four in a row beyond all others are no jitter but another path: what was
// before is forgotten, so that the clocks go to where they then belong, and no further.
//
// # What is predicted
//
// The player's own motion and rifle, with the very functions that the server runs. Every owner row is compared with
// what was predicted for its tick: equal, and nothing happens; different, and the row is adopted and the commands since
// are played again. Death and respawn are the server's to decide and are counted apart.
//
// What the player throws flies with the command that throws it, ahead of the server's word: see Things, which has all that is no player
// at the instant that is looked at. The server's row of it takes its place, where it is; what the server does not know goes.
//
// # Stations switched off
//
// A client that is Thin decodes its own rows alone: it predicts itself and sees nobody. One that is Bare decodes headers, acks and the
// ticks of snapshots, and no row at all: it keeps its session and its clocks, those without the server's reports, and sends all its
// commands as the others do, with a view for each key that may want one. Where it is, it does not know.
package client

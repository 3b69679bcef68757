// Package client is one player's end of a session. Datagrams with their arrival times and the
// player's inputs go in; datagrams to send, events, the player's predicted state and a view of all
// others come out. It opens no socket, starts no goroutine and reads no clock, so the same code
// plays in a load generator, in a simulation of a whole lobby and behind a screen. One goroutine
// may call a Client.
//
// Once a frame or a tick, the caller does
//
//	for each datagram that has arrived:      c.Receive(now, datagram)
//	for range c.Advance(now):                c.Command(intent)
//	for each datagram of c.Outgoing(now):    send it
//
// and asks for what it shows: NextEvent, Pose, Present, Objects, Chat, Round. examples/bot is a
// whole player in thirty lines.
//
// # Parts
//
// A Client joins five parts. Each has its own state, its own Reset for a change of the map, and a
// plain way from input to output:
//
//	conn          datagrams            -> messages, acks, datagrams to send     conn.go uplink.go
//	clock         arrival times        -> server, predicted and render time     client/clock
//	predict       commands, own rows   -> own state, smoothed error             client/predict
//	interpolate   snapshots, an instant -> view and poses                       client/interpolate
//	objects       snapshots, actions   -> projectiles, barrels, cubes, zones    client/objects
//
// # Joining
//
// A client is made from a connect token, which a backend with the server's key mints for one
// player and one session. The token names the server and has the session's keys (package netcode).
// If it names several addresses, the client pings them and joins at the nearest (Choice). The
// first message of the session is the Welcome: the player's slot, and the map, game and models of
// the match. A client that has them answers Ready and is Joined; snapshots start. Otherwise, with
// Config.Fetch, it asks for the missing model or map and stays Connecting until that is here with
// the right hash; without it the client is Denied. A session survives a change of the client's
// address. A lost session does not continue, but another Client with a fresh token of the same
// client id gets the same player back for a while.
//
// # Clocks
//
// Three clocks count server time from tick 0. The server clock follows the fastest snapshot of the
// last two seconds. The predicted clock is the tick that a command must be for to arrive just
// before the server plays it: ahead by the round trip and a buffer of about two ticks, steered by
// the server's reports of that buffer. The render clock is behind by two send intervals and the
// jitter, so that the shown instant lies between two snapshots. Clocks are steered by up to 5 %;
// only an error of a quarter of a second or more sets a clock anew, which is counted and is an
// EventReset.
//
// Jitter is a percentile of the newest 64 samples. Four samples in a row beyond all others are not
// jitter but another path: older samples are dropped.
//
// # Prediction
//
// The player's motion and weapons are predicted with the functions that the server runs. Every
// owner row is compared with the prediction for its tick; if it differs, the row is adopted and
// later commands are played again. Death and respawn are not predicted and are counted apart. Own
// projectiles start with their command, ahead of the server's row, which then replaces them.
package client

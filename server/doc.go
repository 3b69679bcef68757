// Package server runs a lobby: one match and the connections of its players. Datagrams and their arrival
// times go in; datagrams to send come out. Lobby.Ticks reads them in the order of the pipeline: receive,
// play, capture, send.
//
// A Lobby belongs to one goroutine, which may call everything. Other goroutines may read Lobby.Stats and
// call Lobby.Summary. The package opens no socket and no file, starts no goroutine and reads no clock:
// time, datagrams and randomness are arguments, so that the same lobby runs in production, in tests and in
// virtual time. Package server/host runs one as a process; package server/httpapi is its HTTP port.
package server

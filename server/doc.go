// Package server runs a lobby: one match and the connections of its players.
//
// Datagrams and their arrival times go in; datagrams come out. A lobby opens no socket, starts no
// goroutine and reads no clock, so the same code runs in production, in tests and in virtual time.
// One goroutine owns a lobby and calls Tick; any goroutine may read Stats and call Summary.
// Package server/host runs a lobby as a process, and server/httpapi is its HTTP port.
//
// A Port is the sessions of one UDP socket; a lobby has one of its own, or shares one with others.
//
// A tick, see Lobby.Ticks:
//
//	inbound       datagrams -> acks, messages and commands
//	rewind        what each client may have seen, for the shots of the tick
//	sim.Match     commands -> state
//	replication   state and acks -> snapshots
//	outbound      messages and snapshots -> datagrams
//
// Beside that path, join gives sessions their players, and roster, chat, console, idle, spectate,
// transfers, recording and maps do what their names say. Each part has the core: the configuration,
// the match, the connections and the way out.
package server

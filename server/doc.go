// Package server runs lobbies. Lobby is one match with its players' connections: datagrams and their arrival times go
// in, datagrams come out; one goroutine owns it. Host is the shell around it: the socket, the clock that paces the
// ticks, and the HTTP port for health, numbers and profiles.
//
// Everything but host.go, report.go and http.go is sans-I/O: the same Lobby runs in production, in tests and in
// virtual time.
package server

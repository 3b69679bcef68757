// Package rowtrace records what a lobby tells of its players. Brains go in; a lobby with a client
// for each of them plays in virtual time, and the public rows of its frames come out as an
// entity-state trace, a row a player. The same Config gives the same trace.
package rowtrace

// Package rowtrace makes input for the codec evaluation. Bots go in; a lobby with one client for
// each bot plays in virtual time, and an entity-state trace comes out: for every snapshot one row
// for each player, with the fields that all clients are sent. Equal configurations give equal
// traces.
package rowtrace

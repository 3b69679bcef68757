// Package sim plays the match. Commands go in, one per player and tick; new positions, scores, the
// poses that lag compensation stores, and events for players come out. One goroutine owns a Match;
// it opens no socket, reads no clock, and draws every random number from (seed, tick, player,
// shot), so the same commands give the same bits on every machine.
//
// Systems are plain functions over columns, run in the order of the table in table.go. They keep
// nothing between ticks: state lives in components (per player) and resources (per world).
package sim

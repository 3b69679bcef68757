// Package sim plays the match. Commands go in, one per player and tick; out come new positions, scores, the poses that
// lag compensation remembers, and events that players are told of. One goroutine owns a Match; it opens no socket,
// reads no clock, and draws every random number from (seed, tick, player, shot), so the same commands give the same
// bits on every machine.
//
// Systems are plain functions over columns, run in the one order that Systems lists. They keep nothing between ticks:
// what lasts is in components (per player) or in resources (per world).
package sim

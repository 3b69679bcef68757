// Package mode is the rules of a round: deathmatch and assault. The kills of a tick and the
// players in each zone go in; the next State comes out, with the scores, announcements and whether
// all players die. Rules are read-only, State is 28 bytes of integers, Step is a pure function of
// both; nothing reads a clock or draws a random number.
//
// A round goes through its phases in one order, repeatedly:
//
//	Countdown   prematch; the clock stands at its full time while there are fewer than MinPlayers
//	Active      the round; only now kills and captures count
//	Ended       postmatch; in its first tick all players die, and none respawns before it is over
//
// Deathmatch: a kill of the other team is a point for the killer and the killer's team; the higher
// score wins when time is up or a team has ScoreLimit. Assault: team 0 attacks points in the order
// of their index, one at a time, by standing in its zone; it wins when it has the last one, and
// the other team when time is up before. Kills and captures of the last tick count before its time
// runs out.
//
// The numbers are FPSSample's.
package mode

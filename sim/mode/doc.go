// Package mode says what a match is about: deathmatch and assault. The kills of a tick and who stands where go in; the
// next State comes out, with the scores, what is to be announced and when everybody dies. Rules are read-only, State is
// 28 bytes of whole numbers, Step is a pure function of both; nothing here reads a clock or draws a random number.
//
// A round goes through its phases in one order, for ever:
//
//	Countdown   prematch; it stands still at its full time while there are fewer than MinPlayers
//	Active      the round; only now kills and captures count
//	Ended       postmatch; in its first tick everybody dies, and nobody respawns before it is over
//
// Deathmatch: a kill of the other team is a point for the killer and the killer's team; the higher score wins when time
// is up or a team has ScoreLimit. Assault: team 0 attacks points in the order of their index, one at a time, by standing in
// its zone; it wins when it has the last one, and the other team when time is up before. AnnouncementKind the ticks of a round bring
// counts before its time does: a kill or capture in the last tick is in time.
//
// The numbers are the reference's (spec 7.4).
package mode

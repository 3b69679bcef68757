// Package chat takes lines of players to the players they are for. A line and the table of players
// go in; a message and the slots that get it come out. One goroutine owns a Room. The package opens
// no socket, starts no goroutine and reads no clock.
//
//	hello                    to everybody, as /all hello
//	/team hello              to one's team, as /t
//	/whisper "Ann B" hello   to one player, as /w; the unique start of a name is enough
//	/reply hello             to the player whose whisper came last, as /r
//
// The sender of a line that is refused gets a notice that says why; nobody else gets anything. Text
// of any source is visible UTF-8 that does not change the direction of writing.
package chat

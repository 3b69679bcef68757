// Package chat carries what players say to those it is for. Lines and the table of players go in; a message and the seats it goes to
// come out. It opens no socket, starts no goroutine and reads no clock.
//
//	hello                    to everybody, as /all hello
//	/team hello              to one's team, as /t
//	/whisper "Ann B" hello   to one player, as /w; quotes if the name has spaces; as much of the name as tells it from others
//	/reply hello             to who whispered last, as /r
//
// A line that cannot be carried out comes back to its sender alone, as a notice that says why. Text is UTF-8 that is visible and does
// not change the direction of writing, whoever sent it.
package chat

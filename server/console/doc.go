// Package console has the variables and commands of a server, and runs lines of players, operators
// and files. A line and its caller go in; lines to show come out. One goroutine owns a Console. The
// package opens no file, starts no goroutine and reads no clock: files come through an fs.FS and
// leave through a function, and a call of Step is a tick.
//
// A remote caller may use an entry only if the entry has the flag Remote and the caller its rank;
// Unity's FPSSample runs any line that any client sends. A line with an error changes nothing, and
// the error names what was wrong and what was expected.
package console

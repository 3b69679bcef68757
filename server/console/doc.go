// Package console holds a server's variables and commands, and runs lines that people and files have for them. Lines and who says
// them go in; lines to show come out. It opens no file, starts no goroutine and reads no clock: files come through an fs.FS and
// leave through a function, and a tick is a call of Step.
//
// Nothing is open to remote callers unless its entry says so with the flag Remote and the rank it needs. The reference runs any
// line that any client sends. A line that cannot be carried out changes nothing, and the error names what was wrong and what was
// expected.
package console

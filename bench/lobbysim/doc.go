// Package lobbysim is a lobby and its clients in one goroutine and in virtual time: the server's core, headless clients, and a bad
// network between them, all from one seed. A configuration goes in; Step plays one server tick and everything that
// happens between it and the next. The same seed gives the same bits, so what goes wrong once goes wrong again.
package lobbysim

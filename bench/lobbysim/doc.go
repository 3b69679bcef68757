// Package lobbysim plays a lobby and its clients in one process, in virtual time: the server's
// core, headless clients, and impaired links between them, all from one seed. A configuration goes
// in; Step plays one server tick and everything until the next. The same seed gives the same bits,
// so a failure can be repeated. One goroutine may call a Sim.
package lobbysim

// Package inspect shows the inside of a match: where bits go, why a client is not sent an entity,
// how shots were judged, what a client's clocks do, the kinds of entities and the order of systems.
// Options go in, with a running server, a recording or a match to simulate; tables, JSON and
// drawings come out. Commands call it.
//
// An option out of range is an error of package usage; every other error comes from the source or
// from the output. Simulated matches run in virtual time, on the caller's goroutine. A function
// with a context checks it once per tick.
package inspect

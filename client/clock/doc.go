// Package clock keeps a client's three clocks: the server's time, the time that commands are made
// for, and the time that is shown. Arrival times of snapshots, the server's reports of the command
// buffer and the passing of local time go in; three instants and an interpolation delay come out.
// It reads no clock itself. One goroutine may call it, the client's own.
package clock

// Package interpolate shows other players between two snapshots. Decoded snapshots and an instant
// of server time go in; a view, which is the pair of snapshots and a fraction, and the poses in it
// come out. It reads no clock. One goroutine may call it, the client's own.
package interpolate

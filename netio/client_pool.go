package netio

import "errors"

// ErrNoClient says that a fleet has no client of that number, or no longer.
var ErrNoClient = errors.New("netio: no such client")

// ClientPoolStats counts what passed a ClientPool since it was opened, over all clients, removed ones included.
type ClientPoolStats struct {
	DatagramsIn  uint64 // delivered to Poll's function
	BytesIn      uint64
	Oversize     uint64 // dropped: longer than MaxDatagram
	DatagramsOut uint64 // taken by the kernel
	BytesOut     uint64
	SendAgain    uint64 // lost: the kernel had no room at that moment
	SendFailed   uint64 // lost: the kernel refused, usually because nobody listens at the other end
	Clients      int    // open now
}

package netio

import "errors"

// ErrNoClient: a pool has no client with that number.
var ErrNoClient = errors.New("netio: no such client")

// ClientPoolStats counts the datagrams of a ClientPool since it was opened, over all clients.
type ClientPoolStats struct {
	DatagramsIn  uint64 // delivered to Poll's function
	BytesIn      uint64
	Oversize     uint64 // dropped: longer than MaxDatagram
	DatagramsOut uint64 // taken by the kernel
	BytesOut     uint64
	SendAgain    uint64 // lost: the kernel had no room at that moment
	SendFailed   uint64 // lost: the kernel refused, usually because the remote port is closed
	Clients      int    // open now
}

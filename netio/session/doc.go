// Package session keeps one peer connected. Datagrams and their arrival times go in; payloads, the fate of what was
// sent, and datagrams to send come out. It opens no socket, starts no goroutine and reads no clock: time is an
// argument, counted from any instant that stays the same for the life of a value.
//
// A client has a Dialer until it is let in and then a Peer. A server has one Door for everybody, which keeps no state
// about anybody, an Addresses table, and a Peer per client. Nothing here may be used by two goroutines at once.
//
// The order of calls for what arrives at a server:
//
//	slot, known := addresses.Get(from)
//	known, and kind payload or disconnect:  payload, err = peers[slot].Receive(now, datagram)
//	otherwise:                              reply, join, err = door.Handle(now, from, datagram, reply[:0])
//	always, once:                           counters.Count(err)
//
// and then, of a payload:               rest, err = peers[slot].Sections(payload), NextEvent, NextNote, NextBlob; rest is the owner's
//
// and for what leaves: if p.Ready(now), then Append, AppendEvents, AppendNotes, AppendBlob, the owner's own section, Sent.
// Three kinds of cargo ride along. Events are reliable and in order. Notes are sent once. Blobs are what no package has
// room for; they alone are ever cut into fragments, and a lost fragment costs the resending of that fragment.
//
// The seam for the signed, encrypted handshake: Door and Dialer may be replaced whole, as they only hand over a token
// or a denial; Peer's datagrams may be sealed and opened around it, as it takes and gives whole datagrams.
package session

// Packet packet is the packet layer inside a sealed connection: it numbers packages, learns which of them arrived,
// measures the path, and carries events, notes and blobs. Opened packages and the times of their arrival go in; their
// sections, the fate of what was sent, and packages to be sealed come out. It opens no socket, starts no goroutine and
// reads no clock: time is an argument, counted from any instant that stays the same for the life of a value.
//
// Who the other end is, and that nobody else can speak for it, is the business of package netcode around it. Each end
// of a session has one Peer. Nothing here may be used by two goroutines at once.
//
// Of what arrives:
//
//	event, err = gate.Receive(now, unix, from, datagram, out)   // netcode: opens it
//	rest, err  = peer.Receive(now, event.Payload)               // acks, round trip, duplicates
//	rest, err  = peer.Sections(rest)                            // then NextEvent, NextNote, NextBlob; rest is the owner's
//	counters.Count(err)                                         // once a package
//
// and of what leaves: if peer.Ready(now), then Append, AppendEvents, AppendNotes, AppendBlob, the owner's own section,
// SetAckTag. Three kinds of cargo ride along. Events are reliable and in order. Notes are sent once. TransferStats are what no
// package has room for; they alone are ever cut into fragments, and a lost fragment costs the resending of that fragment.
package packet

// Package packet frames what a client and a server send each other inside a sealed connection.
// Opened packets and their arrival times go in; their sections, the result of every packet sent,
// and packets to seal come out. One goroutine may use a Peer at a time. The package opens no
// socket, starts no goroutine and reads no clock: times count from any instant that stays the
// same for the life of a value.
//
// Each end of a session has one Peer. It numbers packets, learns which ones arrived, measures the
// path and carries three kinds of payload: reliable messages, which arrive once and in order;
// unreliable messages, which are sent once; and transfers, which are too long for a packet. Only
// transfers are cut into fragments, and a lost fragment costs one fragment. Package netcode
// around it authenticates the other end.
//
// Receiving:
//
//	event, err = netcode.Receive(now, unix, from, datagram, out)  // opens it
//	rest, err  = peer.Receive(now, event.Payload)                 // acks, round trip, duplicates
//	rest, err  = peer.Sections(rest)                              // messages and transfers
//	counters.Count(err)                                           // rest is the owner's section
//
// Sending, if peer.CanSend(now): Append, AppendReliable, AppendUnreliable, AppendFragment, the
// owner's own section, SetAckTag.
package packet

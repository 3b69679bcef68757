// Package snapshot turns the state of many rows into few bytes for many clients, and back. Frames of quantised rows
// and what each client has acknowledged go in; blocks that are copied into datagrams come out; on the other side blocks
// go in and frames come out that equal the server's.
//
// A row's place in a frame is its slot, NetID.Index. 16 slots in a row make a group. A group is coded against the same
// group of up to three older frames, its baselines, into a block of whole bytes that does not depend on who gets it. From the
// baselines both ends work out what they expect of each field (schema.Coder.Predict) and how far that may be off, which
// chooses among the tables of the model:
//
//	1  all as expected: 0, and nothing follows
//	1  anybody spawned where nobody was
//	per row, in slot order:
//	  not in the newest:    0                          not here now either; left out if nobody spawned
//	                        1, generation, values      spawned: 8 bits, then each field in the width of its range
//	  in the newest:        Gone                       despawned
//	                        Replace, generation, values
//	                        Update+mask, changes       each field that is not as expected, as schema.Coder.Bits
//	zero bits up to a whole byte
//
// With schema.Range a block that has baselines says the same as a message of a range coder (rangeblock.go); with schema.Stored
// nothing has a baseline.
//
// So an Encoder codes each (group, set of baselines) once and all clients with that set share the bytes. A Tracker knows
// what one client holds and quantises its baselines to few ages: the newest that it can, and if that is young the two before it, as
// far apart as the client's snapshots are, if it holds those too. A Packer fills datagrams with whole groups. Datagrams
// stand alone: what one lacks, the next sends again, against whatever baseline the client does hold.
//
// A client that may not see every row, or cannot be sent every row, is told single rows (Packer.BeginRows, Packer.Costs). Their
// bits are made once for each (row, set of baselines), too. Of a row that it may not see nothing is in the bytes but, until it is
// acknowledged, that nobody is there; when it is seen again it is coded against a snapshot that showed it, or none. Rows that
// are just left out leave standing what the client knew of them.
//
// The life of an entity needs no events: a row is in a frame or it is not. What a client shows comes and goes with the
// frames it decoded, so an entity that it saw in a frame nobody acknowledged, and that is gone before the next, goes too.
//
// A server tick:
//
//	frame := ring.Begin(t)            // then frame.Set for every row
//	encoder.Begin(frame, ring)
//	for each client:
//	    tracker.Acked(...)            // for every acknowledged datagram
//	    tracker.Advance(t)
//	    packer.Begin(encoder, tracker, 0, ring.Groups())
//	    for !packer.Done() { payload, first, count = packer.Next(payload, budget) }
//
// For n slots, f fields, groups of b bytes at most (MaxGroupBytes), a ring of r frames and c clients the server takes about
//
//	n * (r * (4f + 4.25) + 28 * (3b/16 + 4f + 13)) + c * n/16 * (8, or 404 if rows are ever left out)   bytes
//
// of which 28, the sets of baselines that may occur, stand for few pages that are ever touched. TestMemoryOfAThousand holds it: of 1000 players
// with 1000 clients 7.2 MiB and 27 MiB.
//
// and a client 65 * n * (4f + 4.25).
//
// A client calls Decoder.Section for each datagram and must acknowledge it only if that succeeded.
//
// A lobby may have several planes of this kind, each with a schema, a ring, an encoder, a packer and trackers of its own; how their parts
// stand in a datagram is the caller's affair.
//
// A Meter says what every bit of a section is for, by field and reason, at either end; the cells add up to the section:
//
//	meter := snapshot.NewMeter(model.Schema())
//	err := decoder.Explain(meter, t, section)    // after Section; or encoder.Explain, after Packer.Next
//	cells := meter.Cells(nil)                    // {player yaw update 5312}, {player "" mask 2120}, ...
package snapshot

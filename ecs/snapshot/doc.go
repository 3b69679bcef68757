// Package snapshot turns the state of many rows into few bytes for many clients, and back. Frames
// of quantised rows and each client's acknowledgements go in; blocks that are copied into datagrams
// come out. On a client blocks go in and frames come out that equal the server's. One goroutine
// uses a lobby's values; nothing reads a clock or a socket.
//
// A row's place in a frame is its slot, netid.ID.Index. 16 slots make a group. A group is coded
// against the same group of up to three older frames, its baselines, into a block of whole bytes
// (block.go) that does not depend on its receiver. From the baselines both ends predict each field
// (schema.Coder.Predict) and estimate the error of the prediction, which chooses among the tables
// of the model. Where one field follows from another, the prediction is then corrected by what is
// known of the first (correct.go). Neighbours that are all as predicted share a byte (idle.go).
// With schema.Range a block that has baselines is a range-coded message
// (rangeblock.go); with schema.Stored nothing has a baseline.
//
// An Encoder codes each (group, baselines) once, and all clients with those baselines share the
// bytes. A Tracker knows what one client holds and picks its baselines: the newest possible, and if
// that is young the two before it, as far apart as the client's snapshots are. A Packer fills
// datagrams with whole groups. Datagrams stand alone: what one lost, the next sends again, against
// a baseline that the client does hold.
//
// A client that may not see every row, or whose bandwidth is below demand, gets single rows
// (Packer.BeginRows, Packer.Costs), coded once for each (row, baselines). Of a hidden row its bytes
// hold only, until the client acknowledges it, that the slot is empty. A row that is visible again
// is coded against a snapshot that had it, or against none. A row that is only left out stays with
// the client as it was.
//
// Spawns and despawns need no events: a row is in a frame or it is not.
//
// A server tick:
//
//	frame := ring.Begin(t)            // then frame.Set for every row
//	encoder.Begin(frame, ring)
//	for each client:
//	    tracker.Acked(...)            // for every acknowledged datagram
//	    tracker.Advance(t)
//	    packer.Begin(encoder, tracker, 0, ring.Groups())
//	    for !packer.Done() {
//	        datagram, first, count, err := packer.Next(nil, budget)
//	        // err: the budget is below RunBytes + MaxGroupBytes, and the next group does not fit
//	    }
//
// A client calls Decoder.Section for each datagram and acknowledges it only if that succeeded. Both
// ends must have the same model: compare them before the first snapshot, by schema.Set.Match.
//
// For n slots, f fields, groups of b bytes at most (MaxGroupBytes), a ring of r frames and c
// clients a server takes about
//
//	n*(r*(4f+4.25) + 48*(3b/16+4f+13)) + c*n/16*(8, or 404 once rows are left out)   bytes
//
// and a client 65*n*(4f+4.25). Of the 48 possible sets of baselines few pages are ever touched.
// 1000 players with 1000 clients take 8.2 MiB and 27 MiB (TestMemoryOfAThousand).
//
// A lobby may have several planes, each with a schema, a ring, an encoder, a packer and trackers of
// its own; the caller decides how they share a datagram.
//
// A Meter says what every bit of a section is for, by field and reason, at either end; the cells
// add up to the section:
//
//	meter := snapshot.NewMeter(model.Schema())
//	// After Decoder.Section; or Encoder.Explain, after Packer.Next.
//	err := decoder.Explain(meter, t, section)
//	// {player yaw update 5312}, {player "" mask 2120}, ...
//	cells := meter.Cells(nil)
package snapshot

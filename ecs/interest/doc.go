// Package interest decides which rows a client may see, and which of them it is sent first. Columns
// of positions, teams and views go in; sets of slots come out: bit s%64 of word s/64 is slot s, as
// ecs/snapshot.Packer takes them. A server calls it from the goroutine of its tick.
//
// What depends on a position is computed once for a cell of the grid, for all viewers in it, 64
// rows to a word. A few operations a word are left for each client:
//
//	visible  = in view distance and in sight of the viewer's cell   Grid, by cell
//	         | of its team | itself                                 Grid, by team
//	         | visible in one of the last Hysteresis snapshots      Client, 4 bits a row, as 4 sets
//	priority = Visible + Mid + Near + Ahead + Combat + New          Client, 16 bits a row,
//	                                                                added up until the row is sent
//
// A snapshot:
//
//	grid.Fill(ids, x, z, teams, combat)
//	for each client:
//	    client.Update(grid, viewer, opponents)
//	    cost, fixed := ...                      // snapshot.Packer.Costs(client.Visible())
//	    client.Select(cost, budgetBits-fixed)   // snapshot.Packer.Select(client.Selected())
//	    client.MarkSent(sent)                   // snapshot.Packer.SentRows
//
// A client that is sent all visible rows needs client.UpdateVisible(grid, viewer) alone.
//
// No row starves. A row gains at least 1 a snapshot, so a row that waits for n snapshots has a
// priority of n or more, and so has each row that goes before it. A row that was sent begins at 0
// and gains at most W a snapshot; of two turns in which it passes the waiting row, the later is at
// least W/(W-1) times as late. Up to snapshot n that makes at most 1 + W*(1 + ln n) turns. With R
// visible rows, and at least m rows in each snapshot, a row that still waits has
//
//	n * m <= (R-1) * (1 + W * (1 + ln n))
//
// which bounds n; Bound solves it. In practice a row that gains w a snapshot waits for about the
// sum of all gains over w*m.
package interest

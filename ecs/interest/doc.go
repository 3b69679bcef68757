// Package interest decides which rows a client may see and which of these it is told first. Columns of positions, teams and
// views go in; sets of slots come out: bit s%64 of word s/64 is slot s, as ecs/snapshot's Packer takes them.
//
// What depends on where somebody stands is worked out once for a cell of the grid and shared by all who stand in it, 64 rows
// to a word. What is left for each client is a few operations a word:
//
//	seen  = in range of its cell, and in sight of it        Grid, by cell
//	      | its team | itself                               Grid, by team
//	      | seen in one of the last Linger snapshots        Client, a counter of 4 bits a row, as 4 sets
//	weight = Seen + Mid + Near + Ahead + Fight + New        Client, 16 bits a row, added up until the row is sent
//
// A snapshot:
//
//	grid.Fill(ids, x, z, teams, hot)
//	for each client:
//	    client.Look(grid, viewer, fights)
//	    cost, fixed := ...                    // snapshot.Packer.Costs(client.Seen())
//	    client.Pick(cost, budgetBits-fixed)   // snapshot.Packer.Select(client.Picked())
//	    client.Sent(said)                     // snapshot.Packer.SentRows
//
// or, for a client that is told all it sees, client.See(grid, viewer) alone.
//
// No row starves. A weight is at least 1, so a row that waits n snapshots stands at n or more, and who goes before it stands as
// high. One that was sent begins at 0 and gains at most W a snapshot; so of two turns in which it passes the waiting row, the
// later is W/(W-1) times as late at least: up to snapshot n there are at most 1 + W*(1 + ln n). Where R rows are seen and every
// snapshot takes at least m of them, a row that is still waiting has
//
//	n * m <= (R-1) * (1 + W * (1 + ln n))
//
// which bounds n; Bound solves it. In practice a row of weight w waits for about the sum of all weights over w*m.
package interest

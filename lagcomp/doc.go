// Package lagcomp remembers where players were and judges shots by it. Poses go in once a tick;
// sweeps that name the instant their shooter was looking at go in, and nearest hits come out. It
// reads columns, never the world; one goroutine owns a History and its Sweeper; it reads no clock
// and starts no goroutine.
//
// # Exactness
//
// A client draws other players between two snapshots with rig.Lerp, and tests its aim with Test.
// The server keeps the poses of those two ticks and calls the same two functions with the same
// fraction. Poses hold only what the wire carries, as the simulation rounds positions to wire
// precision at the end of each tick, and both functions round every product before it is added.
// For every view that the server does not clamp, its verdict is therefore the client's verdict,
// bit for bit: same target, same bone, same distance and normal.
//
// Cast is fast because most players are far from a ray. The broad phase tests bounding spheres in
// columns, expanded so far that neither movement nor rounding loses a target. The narrow phase
// tests the capsules or shapes of the few that remain, and Test alone decides which one is hit, and
// where.
//
// # Bodies
//
// A history is made with a table of hit shapes (rig.Bodies): NewHistory with the heroes of the match,
// NewHistoryOf with another game's boxes, balls, capsules or skeletons. A client tests with the same
// table.
//
// # Queries
//
// A Sweeper answers four queries, with a grid index for ticks that are queried often:
//
//	Cast           spheres that fly along a ray: shots, projectiles, melee
//	Overlap        capsules and balls: blades, blasts
//	OverlapSphere  the players that a sphere touches
//	SlotsNear      the players that a sweep may touch in any view
//
// Each query has a view of its own. The queries of a call are grouped by tick; answers come in the
// order asked, and the lowest slot wins a tie. The map is not known here: cut the ray by Max where
// a wall stops it.
//
// A ShotRecord says how a shot was judged, with everything that package shotsvg needs to draw it.
//
// # Trust
//
// ClampView bounds every claim about time by what the server itself has measured.
package lagcomp

// Package lagcomp remembers where everyone was and judges shots by it. Poses go in once a tick; shots that name the
// instant their shooter was looking at go in, nearest hits come out. It sees columns, never the world; one owner calls
// it; it reads no clock and starts no goroutine.
//
// # The rule of exactness
//
// A client draws everybody else between two snapshots with rig.Lerp, and tests its aim with Test. The server keeps the poses
// of those same two ticks and calls the same two functions with the same fraction. Poses hold only what the wire carries
// (positions are rounded to wire precision by the simulation at the end of each tick, all else is integers), and both
// functions round every product before it is added. So for every view the server does not clamp, its verdict is the
// client's verdict, bit for bit: same target, same bone, same distance and normal.
//
// Cast is fast because most players are nowhere near a ray: bounding spheres are tested first, in columns, widened so far
// that neither movement nor rounding loses a target. Only who is left has its 17 capsules worked out. Which one is hit, and
// where, is decided by Test alone.
//
// # Questions
//
// History.Cast asks for rays, and Sweeper for all else, with an index of squares for ticks that many ask for: Cast for spheres that fly along a ray (rounds,
// projectiles, blows), Overlap for capsules and balls (blades, blasts), Within for whom a ball touches, Around for whom a way may touch at
// any view of a span. Each question has a view of its own;
// those of a call are grouped by the tick they look at, and answered in the order in which they were asked; the lowest slot wins where two
// are equally near. The map is not known here: cut the ray by Max where it stops.
//
// A ShotRecord says how a shot was judged, and has all that package picture needs to draw it.
//
// # What is believed
//
// Nothing a client claims of time is believed further than ClampView allows from what the server itself knows.
package lagcomp

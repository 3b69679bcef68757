// Package ability runs what a player can do: weapons, sprint, melee, emotes, a rocket jump, dying.
// The State of one player, the keys of one tick and the tables of a hero go in; the next State
// comes out, and a list of the actions of the tick: shots, projectiles, sweeps. Client and server
// call the same Step; it keeps nothing, allocates nothing, reads no clock and draws no random
// number.
//
// A hero is an ordered list of at most eight abilities. Each is idle, requests activation, is
// active, or cools down. A tick has three parts, in this order:
//
//	requests    keys and circumstances make idle abilities request activation
//	controller  switches off abilities that left their active state; then serves the requests in
//	            the order of the list: switches one on if every active ability runs with it; else
//	            switches off those that it may interrupt and asks the others to end, while the
//	            request waits. An ability that ended because it was asked is served last in the
//	            next tick, so that it does not block the one that it made room for
//	update      active abilities do their work, and end if they are done or were asked to
//
// An ability that was asked to end does so when it can: a gun after its shot or reload, a sprint
// after its stop delay, an emote at once, a throw or a punch when its time is over. The request of
// a throw or punch outlives its key; other requests last as long as their key. While a trigger is
// held a sprint makes no request, so that a player that holds both keys fires, and runs on
// afterwards. An empty gun reloads by itself, unless another ability is active.
//
// Step comes before the motion of its tick: Actions.Sprint and Move are for that motion, and shots
// start where it ends. Numbers are FPSSample's, without two of its bugs: its spread
// comes from an unseeded generator, and its cone grows only the first time a tick is played, so
// that every burst mispredicts. Here a direction follows from seed, tick, entity and shot (Aim),
// and the cone is part of State and grows in every run of the tick. Shots fill the cone; the
// reference's all lie on its edge.
package ability

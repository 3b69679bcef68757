// Package ability runs what a player can do: weapons, sprint, melee, emotes, a rocket jump, dying. The State of one player,
// the keys of one tick and the tables of a hero go in; the next State comes out, and a list of what the tick brings
// about: shots, projectiles, sweeps. Client and server call the same Step; it keeps nothing, allocates nothing, reads no
// clock and draws no random number.
//
// A hero is an ordered list of at most eight abilities. Each is idle, requests to be activated, is active, or cools
// down. A tick has three parts, in this order:
//
//	requests    keys and circumstances make idle abilities ask to be activated
//	controller  what left its active state is switched off; then each that asks, in the order of the list: if
//	            everything that is on runs with it, it is switched on; else what it may interrupt is switched off
//	            at once, and the others are asked to end, while it waits. Whoever ended because it was asked comes last
//	            in the tick that follows, so that it does not take the room that it made
//	update      what is on does its work, and ends if it is done or was asked to
//
// An ability that was asked ends when it can: a gun after its shot or reload, a sprint after its stop delay, an emote at
// once, a throw or a punch when its time is over. A throw or punch that waits is remembered though the key was let go;
// other requests last as long as their key. While a trigger is held a sprint does not request, so that a player who holds
// both keys fires, and runs on afterwards. A gun that is empty reloads by itself, unless something else is on.
//
// Step comes before the motion of its tick: Actions.Sprint and Move are for that motion, and shots leave from where it
// ends. Numbers are the reference's (spec 7.2). Its two bugs are not: the spread of its rifle comes from an unseeded
// generator, and the cone grows only the first time a tick is played, so that every burst mispredicts. Here a direction
// follows from seed, tick, entity and shot (Aim), and the cone is part of State and grows in every run of the tick.
// Shots fill the cone; the reference's all lie on its edge.
package ability

// Package dst simulates one lobby under attack and failure: honest clients, attackers with and
// without a session, links that lose, repeat and damage datagrams, drifting clocks, stalls, and a
// server that is killed. It runs in one goroutine, in virtual time, from one seed.
//
// A Case goes in: a seed, and the faults and clients to leave out. A Result comes out: the first
// Violation of an invariant, if any, and a hash of the final state. Equal cases give equal bits,
// so one line repeats a violation:
//
// \ttickrate sim dst --seed 12 --until 31.4s --without 0-5,7 --clients 3
//
// Each invariant is checked after every tick of the server unless the table says otherwise. No
// fault acts in the last fifth of a run (the quiet part), and every honest client must then play
// normally.
//
// \t 0 no panic       nothing panics                            world.run, and lobbysim's errors
// \t 1 authority      replaying the inputs gives the same match  shadow.check; the full hash each
// 60th tick
// \t 2 once a tick    each command is applied once, unchanged    world.checkInputs
// \t 3 movement       speed, solids, finite numbers              world.checkMoves; solids each 4th
// tick
// \t 4 rewind         clamped views, hits by plain history       shots.check, world.checkShown,
// shadow.check
// \t 5 snapshots      clients hold the server's rows             world.checkRows 12 ticks later,
// checkOwnState
// \t 6 forwards       snapshots and views never go back          world.checkForwards
// \t 7 no leak        brute-force visibility of each snapshot    visibility.update,
// world.checkRows, checkChat
// \t 8 sessions       one address, client and player each        world.checkSessions,
// checkKillMessages, checkChat
// \t 9 nonces         no sequence twice under one key            world.checkSequence, each
// datagram of all starts
// \t10 amplification  few bytes to unvalidated addresses         world.onSend, each datagram
// \t11 accounts       each datagram counts once                  traffic.check; clients:
// world.checkLife
// \t12 bounds         rates, leads, queues, allocations          world.checkRate, checkInputs,
// traffic.check, allocCheck
// \t13 isolation      outside attackers do not change the match  Run, each 5th seed, at each 6th
// tick
// \t14 liveness       everybody joins and plays in the end       world.recordSettled,
// world.checkLife
// \t15 replay file    a recording repeats the match              world.checkRecording,
// recordings.serverKilled
// \t16 determinism    equal seeds give equal bits                Run, each 5th seed, at each 6th
// tick
//
// Kind lists the faults.
package dst

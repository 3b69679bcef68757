// Package dst simulates a lobby, or a host with many, under attack and failure: honest clients,
// attackers with and without a session, links that lose, repeat and damage datagrams, drifting
// clocks, stalls, and a server that is killed. It runs in one goroutine, in virtual time, from one
// seed.
//
// A Case goes in: a seed, and the faults and clients to leave out. A Result comes out: the first
// Violation of an invariant, if any, and a hash of the final state. Equal cases give equal bits,
// so one line repeats a violation:
//
//	tickrate sim dst --seed 12 --until 31.4s --without 0-5,7 --clients 3
//
// Each invariant is checked after every tick of the server unless the table says otherwise. No
// fault acts in the last fifth of a run (the quiet part), and every honest client must then play
// normally.
//
//	 0 no panic       nothing panics                            run.play, errors of lobbysim
//	 1 authority      replaying the inputs gives the same match shadow.check
//	 2 once a tick    each command is applied once, unchanged   run.checkInputs
//	 3 movement       speed, solids, finite numbers             run.checkMoves
//	 4 rewind         clamped views, hits by plain history      shots.check, run.checkShown
//	 5 snapshots      clients hold the server's rows            run.checkRows, checkOwnState
//	 6 forwards       snapshots and views never go back         run.checkForwards
//	 7 no leak        brute-force visibility of each snapshot   visibility.update, run.checkRows
//	 8 sessions       one address, client and player each       run.checkSessions, checkChat
//	 9 nonces         no sequence twice under one key           run.checkSequence
//	10 amplification  few bytes to unvalidated addresses        run.onSend
//	11 accounts       each datagram counts once                 traffic.check, run.checkLife
//	12 bounds         rates, leads, queues, allocations         run.checkRate, allocCheck
//	13 isolation      outsiders do not change the match         run.compare
//	14 liveness       everybody joins and plays in the end      run.recordSettled, checkLife
//	14 liveness       each visible player is sent again         run.checkRowAges
//	15 replay file    a recording repeats the match             run.checkRecording
//	16 determinism    equal seeds give equal bits               run.compare
//
// Less often than each tick: the hash of the whole match (1) every 60th, solids (3) every 4th, rows
// (5) 12 ticks after they were sent, isolation and determinism (13, 16) for each fifth seed at
// every 6th tick. Sequences (9) are checked across all starts of the server.
//
// A Case with Lobbies is a host: one or two workers, each a server.Port with lobbies, which are made,
// ended, panic and move while others play. A lobby is a run of its own and is held to the invariants
// above; those of addresses, sequences and accounts (8 to 11) are held for the host. Beside them:
//
//	 0 no panic       a planted panic ends its lobby alone     host.takeFaults
//	 7 no leak        sessions and chat stay in their lobby    host.checkRoutes, run.checkChat
//	 8 sessions       one for each client of the host          host.checkRoutes
//	12 bounds         nothing keeps a lobby that has ended     host.checkGone
//	13 isolation      a lobby plays as it would alone          aloneLog.compare
//	13 isolation      maps and models stay as they were        host.checkShared
//	14 liveness       no tick is late; clients hear the reason host.afterStep, host.over
//
// "Alone" is a second port with the datagrams of the lobby's own clients. It is not compared on two
// workers if a session changed its address or was displaced by one on the other worker.
//
// Kind lists the faults.
package dst

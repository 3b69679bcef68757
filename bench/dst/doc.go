// Package dst simulates a lobby that everything goes wrong for: honest clients, attackers with and without a session, links that lose,
// repeat and damage, clocks that drift, machines that stop and a server that is killed, all in one goroutine and from one seed. What
// must be true is looked at after every tick; for the last fifth of a run nothing goes wrong any more, and then everybody must play.
//
// A Case goes in: a seed, and what is left out of what it draws. A Violation comes out, or nil. The same case gives the same run to the
// bit, so a breach is one line that anybody can play again:
//
//	tickrate sim dst --seed 12 --until 31.4s --without 0-5,7 --clients 3
//
// The invariants have the numbers of the document on threats. Each is looked at after every tick of the server unless an instant is named:
//
//	 0 upright        nothing panics                           world.run, and lobbysim's errors
//	 1 authority      the match played again by its inputs     twin.check; the hash each 60th tick
//	 2 once a tick    commands are applied once, as made       world.checkInputs
//	 3 movement       speed, walls, numbers                    world.checkMoves; walls each 4th tick
//	 4 rewind         clamps, hits by plain history, shown     shots.check, world.checkShown; no trace: twin.check
//	 5 snapshots      what clients hold is the server's        world.checkRows 12 ticks later, checkSelf; checkPicture at the end
//	 6 forwards       snapshots and views go forwards          world.checkForwards
//	 7 no leak        brute-force sight of each snapshot       sight.update and world.checkRows; team lines: world.checkChat
//	 8 sessions       bijections; each event and line once     world.checkSessions, checkTold, chat, post.check, twin.check
//	 9 nonces         no sequence twice under a key            world.checkSequence, each datagram, over all starts
//	10 amplification  bytes to who has proved nothing          world.onSend, each datagram
//	11 accounts       every datagram is counted once           post.check; of clients: world.checkLife
//	12 bounds         rates, leads, queues, no garbage         world.checkRate, checkInputs, post.check; quiet, for a second of the calm
//	13 isolation      the match without strangers is the same  Run, each 5th seed, at each 6th tick
//	14 liveness       everybody joins and plays in the calm    world.recordSettled, world.checkLife
//	15 replay file    a recording says what was, and plays     world.checkRecording when a file ends; films.serverKilled: a second is lost at most
//	16 determinism    a seed played twice                      Run, each 5th seed, at each 6th tick; machines: package sim
//
// The faults are those of Kind. A Tape's disk fills and fails, wall clocks jump, clients' clocks drift, and the server's stands still; all of
// them end with calm.
package dst

package lobbysim

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Agreement compares the clients' decoded snapshots with the server's state by hash, row by row.
// Rows that a client lacks are missing: lost packets, or players that are not relevant to it.
type Agreement struct {
	Snapshots uint64 // compared
	Rows      uint64
	Missing   uint64 // rows
	Differing uint64 // snapshots with another hash than the server's
	First     tick.Tick
	Hash      uint64 // of all decoded rows, in the order of comparison

	newest []tick.Tick // by client
	theirs [netstate.PublicFields]int32
	ours   [netstate.PublicFields]int32
}

// FNV-1a, 64 bits, a word at a time.
const (
	hashBasis = 14695981039346656037
	hashPrime = 1099511628211
)

// Compare takes every snapshot that a newer one has followed since the last call: call it after
// each Step. Only clients that decode everything count.
func (b *Sim) Compare(a *Agreement) {
	if a.newest == nil {
		a.newest, a.Hash = make([]tick.Tick, len(b.Clients)), hashBasis
	}
	for i, c := range b.Clients {
		if c == nil || b.decode(i) != client.DecodeFull {
			a.newest[i] = 0
			continue
		}
		if at, was := c.Newest(), a.newest[i]; at != was {
			a.newest[i] = at
			if was != 0 && was < at {
				b.compare(a, i, was)
			}
		}
	}
}

func (b *Sim) compare(a *Agreement, client int, t tick.Tick) {
	frame := b.Lobby.Frame(t)
	if frame == nil {
		return
	}
	theirs, ours := uint64(hashBasis), uint64(hashBasis)
	for slot := range frame.Slots() {
		is := frame.Row(slot, a.ours[:])
		id, ok := b.Clients[client].Row(t, slot, a.theirs[:])
		switch {
		case !ok && is != 0:
			a.Missing++
		case ok && is|id != 0:
			theirs, ours = hashRow(theirs, uint32(id), &a.theirs), hashRow(ours, uint32(is), &a.ours)
			a.Rows++
		}
	}
	a.Snapshots++
	a.Hash = (a.Hash ^ theirs) * hashPrime
	if theirs != ours {
		if a.Differing == 0 {
			a.First = t
		}
		a.Differing++
	}
}

// hashRow adds a row; of an empty slot only that it is empty.
func hashRow(h uint64, id uint32, row *[netstate.PublicFields]int32) uint64 {
	h = (h ^ uint64(id)) * hashPrime
	if id == 0 {
		return h
	}
	for _, v := range row {
		h = (h ^ uint64(uint32(v))) * hashPrime
	}
	return h
}

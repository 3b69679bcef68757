package agones

import (
	"slices"
	"time"
)

// players keeps the list of players of a GameServer. Records, the ids of players and times go in;
// the values that the list is to have come out. It has no clock and no socket.
type players struct {
	settle time.Duration // after which a difference that stays is no longer one of messages under way

	there    bool     // the game server has such a list
	capacity int      // of it
	listed   []string // as the newest record has it
	told     []string // as the list will be once all messages have arrived
	known    bool     // told was accepted
	moved    time.Duration
}

// observe takes a record that is not older than those before.
func (p *players) observe(now time.Duration, g *GameServer) {
	l, there := g.Status.Lists[ListPlayers]
	if there != p.there || !slices.Equal(l.Values, p.listed) {
		p.moved = now
	}
	p.there, p.capacity, p.listed = there, int(l.Capacity), l.Values
}

// next returns the values that the list is to have, and whether it must be told. A list that is too
// short has the first ids. Where it is changed by others, it is set again.
func (p *players) next(now time.Duration, ids []string) (values []string, tell bool) {
	if !p.there {
		return nil, false
	}
	values = ids[:min(len(ids), max(0, p.capacity))]
	if p.known && now-p.moved >= p.settle && !slices.Equal(p.listed, p.told) {
		p.known = false
	}
	return values, !p.known || !slices.Equal(values, p.told)
}

// done takes the outcome of a request: whether it was accepted.
func (p *players) done(now time.Duration, values []string, accepted bool) {
	p.told, p.known, p.moved = slices.Clone(values), accepted, now
}

package server

import (
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/ecs/netid"
)

// FindPlayer returns the net id of the player that a word names: its name in upper or lower case,
// its net id (8.1 or 2049), its slot (slot:8) or its client id (client:77). The player may be
// disconnected and reconnectable.
func (l *Lobby) FindPlayer(word string) (netid.ID, error) {
	if slot, ok := l.roster.slotByName(word); ok {
		return l.conns[slot].id, nil
	}
	kind, number, _ := strings.Cut(word, ":")
	switch kind {
	case "slot":
		if slot, err := strconv.ParseUint(number, 10, 16); err == nil && int(slot) < len(l.conns) {
			return l.playerIn(int(slot), l.conns[slot].id)
		}
	case "client":
		if client, err := strconv.ParseUint(number, 10, 64); err == nil {
			for slot := range l.conns {
				c := &l.conns[slot]
				if c.roster.user != client {
					continue
				}
				// An error: the player has left this slot.
				if id, err := l.playerIn(slot, c.id); err == nil {
					return id, nil
				}
			}
		}
	default:
		if id, err := netid.Parse(word); err == nil && id.Index() < len(l.conns) {
			return l.playerIn(id.Index(), id)
		}
	}
	return 0, errNoPlayer
}

// playerIn returns id if it is the player in a slot.
func (k *core) playerIn(slot int, id netid.ID) (netid.ID, error) {
	if id == 0 || k.conns[slot].id != id || k.match.Vital(id) == nil {
		return 0, errNoPlayer
	}
	return id, nil
}

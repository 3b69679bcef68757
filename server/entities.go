package server

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// EntityReport is one entity as the match has it, and what became of it in the newest snapshot to
// each client.
type EntityReport struct {
	sim.EntityInfo
	Name       string // of a player
	Components []sim.ComponentInfo
	Replicated bool // clients are sent entities of the kind; others follow from the map
	Clients    int  // that there are
	Explained  []ClientExplanation
}

// ClientExplanation is what became of an entity in the newest snapshot to a client.
type ClientExplanation struct {
	Slot int // of the client
	Name string
	Explanation
}

// MaxExplained is the most clients of an EntityReport: it is made between two ticks.
const MaxExplained = 100

// EntityReport describes an entity and explains it for at most MaxExplained clients, in the order of
// slots from first on. ok is false if there is no such entity. Call it between ticks.
func (l *Lobby) EntityReport(id netid.ID, first int) (r EntityReport, ok bool) {
	if r.EntityInfo, r.Components, ok = l.match.Entity(id); !ok {
		return r, false
	}
	r.Name, r.Clients = l.entityName(id), len(l.live)
	ref, object := refOf(&r.EntityInfo)
	if r.Replicated = object || l.match.Vital(id) != nil; !r.Replicated {
		return r, true
	}
	slot := -1
	if object {
		slot = l.replication.objects.table.slotOf(ref)
	}
	for _, s := range l.live {
		if int(s) < first {
			continue
		}
		if len(r.Explained) == MaxExplained {
			break
		}
		x, client := ClientExplanation{Slot: int(s), Name: l.roster.name(s)}, l.conns[s].id
		if object {
			x.Explanation = l.explainObject(&l.replication, client, ref, slot)
		} else {
			x.Explanation = l.Explain(client, id)
		}
		r.Explained = append(r.Explained, x)
	}
	return r, true
}

// entityName is the name of a player in the roster; "" for other entities.
func (l *Lobby) entityName(id netid.ID) string {
	if slot := id.Index(); slot < len(l.conns) && l.conns[slot].id == id {
		return l.roster.name(int32(slot))
	}
	return ""
}

// NamedEntity is an entity, and its name if it is a player.
type NamedEntity struct {
	sim.EntityInfo
	Name string
}

// Entities appends all entities of the match, by kind. Call it between ticks.
func (l *Lobby) Entities(dst []NamedEntity) []NamedEntity {
	for _, e := range l.match.Entities(nil) {
		dst = append(dst, NamedEntity{e, l.entityName(e.ID)})
	}
	return dst
}

// refOf is the object that an entity is to clients. ok is false for players, and for what follows
// from the map.
func refOf(e *sim.EntityInfo) (ref ObjectRef, ok bool) {
	name := e.Kind
	if name == "capture point" {
		name = netstate.Zone.String()
	}
	for k := netstate.Kind(1); k < netstate.Kinds; k++ {
		if !k.Known() || k.String() != name {
			continue
		}
		if k.Flies() {
			return ObjectRef{k, uint32(e.ID)}, true
		}
		return ObjectRef{k, uint32(e.Number)}, true
	}
	return ref, false
}

package server

import (
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
)

// Team-mates are always visible, or with TeamFog only in view distance.
func TestTeamFog(t *testing.T) {
	for _, fog := range []bool{false, true} {
		b := newClientLobby(t, 12,
			Config{Players: 16, Relevance: RelevanceGrid, CellSize: 4, ViewDistance: 4, TeamFog: fog})
		b.brain = func(int) client.Intent { return client.Intent{} } // all stand still
		b.play(3)
		mates, near, told := 0, 0, 0
		for _, p := range b.players {
			me := b.lobby.match.Vital(p.ID())
			for slot, pose := range b.lobby.match.Poses() {
				v := b.lobby.match.Vital(netid.ID(pose.ID))
				if v == nil || v.Team != me.Team || slot == p.ID().Index() {
					continue
				}
				mates++
				in := !b.lobby.replication.outOfRange(b.lobby.match.Poses()[p.ID().Index()].Pos, pose.Pos)
				if in {
					near++
				}
				_, ok := p.Pose(slot)
				if ok {
					told++
				}
				if want := in || !fog; ok != want {
					t.Errorf("fog %v: %v is told of %v: %v", fog, p.ID(), netid.ID(pose.ID), ok)
				}
				c := &b.lobby.conns[p.ID().Index()]
				if why := b.lobby.replication.playerReason(&c.repl,
					b.lobby.replication.players.frames.At(c.repl.pacing.sent),
					slot); (why == ReasonSent) != ok || !ok && why != ReasonRange {
					t.Errorf("fog %v: told %v, because %v", fog, ok, why)
				}
			}
		}
		if mates < 50 || near == 0 || near == mates || fog && told != near || !fog && told != mates {
			t.Errorf("fog %v: %d pairs of a team, %d in range, %d told", fog, mates, near, told)
		}
	}
}

package dst

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

// lateRemoval plays a case in which a snapshot that empties slot 3 comes out of order, after the
// command of tick 198, which hits the player there. It returns the lobby and the shooter's client.
func lateRemoval(t *testing.T) (r *run, shooter int) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
	c, err := ParseCase("--seed 4894508293847060978 --lobbies 5 --until 3.317s --without 1-6,8-22")
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(c)
	if err != nil {
		t.Fatal(err)
	}
	for h.Now() < c.Duration() && h.violation == nil {
		h.endMoves(false)
		h.updateFaults()
		if err := h.Step(); err != nil {
			t.Fatal(err)
		}
		h.afterStep()
	}
	if h.violation != nil {
		t.Fatal(h.violation)
	}
	r = h.lobbies[0].run
	for i := range r.Clients {
		if c := r.client(i); c != nil && c.ID() == netid.Make(0, 1) {
			return r, i
		}
	}
	t.Fatal("the shooter is not in the lobby")
	return nil, 0
}

// A client's rows are kept as they were at a command, whatever comes later.
func TestHeldAtTheCommand(t *testing.T) {
	r, shooter := lateRemoval(t)
	held, ok := r.honest[shooter].held.before(198, 3)
	if want := (heldRow{171, netid.Make(3, 1)}); !ok || held != want {
		t.Errorf("at the command the client held %v, %v, expected %v", held, ok, want)
	}
	if now, want := heldNow(r.client(shooter), 3, 174), (heldRow{174, 0}); now != want {
		t.Errorf("after the shot the client holds %v, expected %v", now, want)
	}
	if held, ok := r.honest[shooter].held.before(198-64, 3); ok {
		t.Errorf("the command of tick %d, which is too old, has %v", 198-64, held)
	}
}

// A shot may hit a player that its client held at the command, and no other one.
func TestShotsHitWhatIsShown(t *testing.T) {
	r, shooter := lateRemoval(t)
	victim, view := netid.Make(3, 1), tick.View{From: 174, To: 174}
	at := &r.honest[shooter].held.commands[r.played%64]
	at.tick = r.played
	for _, c := range []struct {
		held    heldRow
		clamped bool
		want    string // "": no violation
	}{
		{held: heldRow{171, victim}},
		{held: heldRow{}}, // as of a row that the client has forgotten
		{held: heldRow{171, 0}, want: "had 0.0 there in snapshot 171"},
		{held: heldRow{171, netid.Make(3, 2)}, want: "had 3.2 there in snapshot 171"},
		{held: heldRow{171, victim}, clamped: true, want: "had 0.0 there in snapshot 174"},
		{held: heldRow{177, victim}, want: "had 0.0 there in snapshot 174"}, // acked too late
	} {
		r.violation, at.rows[3] = nil, c.held
		r.checkShown(&sim.Shot{
			Shooter: uint32(netid.Make(0, 1)), Sweep: lagcomp.Sweep{View: view}, Judged: view, Clamped: c.clamped,
		}, victim)
		if v := r.violation; v == nil && c.want != "" || v != nil && (c.want == "" ||
			!strings.Contains(v.What, c.want)) {
			t.Errorf("%+v: %v", c, v)
		}
	}
}

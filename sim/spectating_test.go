package sim

import "testing"

// A spectator has the component from its first tick on, none has it that plays, and it goes with
// the row; a recorded state has it, too.
func TestRow01SpectatingComesWithTheRow(t *testing.T) {
	m := New(4, Rules{Game: furnished()}, plain(t))
	player, watcher := m.Join(), m.JoinSpectator()
	m.Step()
	since := m.Tick()
	if w := m.spectating.Get(watcher); w == nil || w.Since != since || m.Spectates(player) ||
		m.Poses()[watcher.Index()].ID != 0 {
		t.Fatalf("after tick %d: %+v, the player: %v", since, w, m.Spectates(player))
	}
	m.Step()
	state, err := m.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := Load(4, *m.Rules(), m.Scene().Arena, state)
	if err != nil || !copied.Spectates(watcher) || copied.Spectates(player) || copied.Hash() != m.Hash() {
		t.Fatalf("the state: %v", err)
	}
	m.Leave(watcher)
	m.Step()
	if m.Spectates(watcher) || m.World.Count(m.kinds[pageSpectating]) != 0 {
		t.Error("a spectator left, and its component did not")
	}
	m.vital.Get(player).Respawn = 0
	m.spectating.Add(player, Spectating{})
	m.World.Flush()
	if state, err = m.Save(nil); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(4, *m.Rules(), m.Scene().Arena, state); err == nil {
		t.Error("a spectator that is alive is loaded")
	}
}

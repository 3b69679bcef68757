package dst
import ("testing";"fmt")
func TestDbg(t *testing.T) {
	for _, l := range Faults(Case{Seed: 55}) { fmt.Println(l) }
	w, _ := newWorld(Case{Seed: 55}, false)
	b := w.run()
	fmt.Println(b)
	fmt.Println(w.twin.born, w.souls[0].id, w.souls[0].since)
	m := w.Lobby.Match()
	fmt.Printf("%+v\n", m.Outcome().Shots)
	for i := range w.Clients { if w.Clients[i]!= nil {fmt.Println(i, w.Clients[i].ID()) }}
}

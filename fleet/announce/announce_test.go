package announce

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

// BenchmarkAnnounce is all that announcing costs a host but the write to its socket: figures looked at
// every 50 ms, one announcement a second. It reports the share of a core, of which 0.1 % is the limit.
func BenchmarkAnnounce(b *testing.B) {
	for _, c := range []struct {
		name  string
		rooms int
	}{{"lobbies=8", 8}, {"lobbies=100", 100}, {"lobbies=1000", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			state := Host{Instance: 1, Addresses: []string{"203.0.113.5:7913"}, MostRooms: MaxRooms, MostSlots: 10,
				Workers: 1, Busy: 0.5, TickUS: 120, Rooms: make([]Room, c.rooms)}
			for i := range state.Rooms {
				state.Rooms[i] = Room{uint32(i), "arena-16", "deathmatch", 7, 10, true}
			}
			a, err := NewAnnouncer(nil, HostConfig{Name: "host", Log: slog.New(slog.DiscardHandler),
				Figure: func() Host { return state }})
			if err != nil {
				b.Fatal(err)
			}
			bytes := 0
			for b.Loop() {
				for range int(Every / changeEvery) {
					h := a.cfg.Figure()
					a.changed(&h)
				}
				h := a.cfg.Figure()
				raw, err := a.announcement(&h)
				if err != nil {
					b.Fatal(err)
				}
				bytes = len(raw)
			}
			b.ReportMetric(float64(bytes), "B/message")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/Every.Seconds(), "cores")
		})
	}
}

// A request for a lobby is for one process and for a short time, and the same one makes one lobby.
func TestMakeOnceAndInTime(t *testing.T) {
	made := 0
	a, err := NewAnnouncer(nil, HostConfig{Name: "host", Log: slog.New(slog.DiscardHandler),
		Figure: func() Host { return Host{} }, Now: func() time.Time { return time.Unix(5, 0) },
		Make: func(context.Context, string, string, int) (uint32, error) { made++; return uint32(made), nil }})
	if err != nil {
		t.Fatal(err)
	}
	a.sequence = 100
	boot := time.Unix(5, 0).UnixNano()
	for i, c := range []struct {
		ask  Make
		want uint32 // 0: refused
	}{
		{Make{Host: "host", Request: "r", Boot: boot, Sequence: 99}, 1},
		{Make{Host: "host", Request: "r", Boot: boot, Sequence: 99}, 1},
		{Make{Host: "host", Request: "s", Boot: boot, Sequence: 100}, 2},
		{Make{Host: "host", Request: "old", Boot: boot, Sequence: 69}, 0},
		{Make{Host: "host", Request: "future", Boot: boot, Sequence: 101}, 0},
		{Make{Host: "host", Request: "before", Boot: boot - 1, Sequence: 99}, 0},
		{Make{Host: "other", Request: "other", Boot: boot, Sequence: 99}, 0},
	} {
		id, err := a.make(t.Context(), &c.ask)
		if id != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("request %d: lobby %d, %v; want %d", i, id, err, c.want)
		}
	}
}

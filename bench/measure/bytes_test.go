package measure

import (
	"testing"
	"time"
)

func sampleBytes() *Bytes {
	return &Bytes{Clients: 2, Duration: Span{10 * time.Second}, Datagrams: 400, Received: 1000, Cells: []Cell{
		{"seal", "tag", "seal", 1600}, {"player", "x", "update", 3000}, {"player", "x", "spawn", 1000},
		{"player", "", "mask", 900}, {"player", "yaw", "update", 1000}, {"owner", "", "mask", 500},
	}}
}

func TestBytesAddUp(t *testing.T) {
	b := sampleBytes()
	if err := b.Check(); err != nil {
		t.Error(err)
	}
	for i := range b.Cells { // dropping any one count is found
		lame := sampleBytes()
		lame.Cells[i].Bits--
		if lame.Check() == nil {
			t.Errorf("a bit of %v is missing, and Check returns no error", b.Cells[i])
		}
	}
	if b.PerSecond() != 50 || b.DatagramsPerSecond() != 20 {
		t.Errorf("%v B/s in %v datagrams, want 50 and 20", b.PerSecond(), b.DatagramsPerSecond())
	}
	for i, c := range []struct {
		got  []Share
		want []Share
	}{
		{b.Components(), []Share{{"player", 36.875, 73.75}, {"seal", 10, 20}, {"owner", 3.125, 6.25}}},
		{b.Names(), []Share{{"player.x", 25, 50}, {"seal.tag", 10, 20}, {"player.yaw", 6.25, 12.5},
			{"player mask", 5.625, 11.25}, {"owner mask", 3.125, 6.25}}},
		{b.Reasons("player"), []Share{{"update", 25, 50}, {"spawn", 6.25, 12.5}, {"mask", 5.625, 11.25}}},
	} {
		if len(c.got) != len(c.want) {
			t.Errorf("%d: %v, want %v", i, c.got, c.want)
			continue
		}
		for k := range c.want {
			if c.got[k] != c.want[k] {
				t.Errorf("%d: %v, want %v", i, c.got[k], c.want[k])
			}
		}
	}
	var none Bytes
	if none.Check() != nil || none.PerSecond() != 0 || none.Components() != nil {
		t.Error("an account of nothing is something")
	}
}

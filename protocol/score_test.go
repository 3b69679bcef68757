package protocol

import (
	"bytes"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
)

var goldenScores = []Score{
	{NetID: 0x201, Kills: 12, Deaths: 3, Ping: PingOf(84 * time.Millisecond), Loss: 2},
	{NetID: 0x501, Kills: 300, Ping: PingAway},
}

func TestGoldenScores(t *testing.T) {
	want := goldenSocial(t)["scores"]
	got := []byte{MessageScores}
	for i := range goldenScores {
		got = goldenScores[i].Append(got)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("wrote %x, the document says %x", got, want)
	}
	rest := want[1:]
	for i := range goldenScores {
		row, after, err := ParseScore(rest)
		if err != nil || row != goldenScores[i] {
			t.Errorf("row %d: %+v, %v", i, row, err)
		}
		rest = after
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
}

func TestBadScores(t *testing.T) {
	whole := goldenScores[0].Append(nil)
	for n := range whole {
		if _, _, err := ParseScore(whole[:n]); err != packet.DropMessage {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for name, bad := range map[string]Score{"no id": {Loss: 1}, "loss": {NetID: 1, Loss: 101}} {
		if _, _, err := ParseScore(bad.Append(nil)); err != packet.DropMessage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A ping is within half a step of the round trip, and the longest stand for all that are longer.
func TestPings(t *testing.T) {
	for rtt := time.Duration(0); rtt <= pingMost*pingUnit; rtt += 300 * time.Microsecond {
		if d := PingOf(rtt).RTT() - rtt; d.Abs() > pingUnit/2 {
			t.Errorf("%v becomes %v", rtt, PingOf(rtt).RTT())
		}
	}
	if PingOf(time.Hour) != pingMost || PingOf(-1) != 0 || PingAway.RTT() != 0 {
		t.Errorf("%d %d", PingOf(time.Hour), PingOf(-1))
	}
}

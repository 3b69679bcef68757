package packet

import (
	"reflect"
	"testing"
	"time"
)

// A session is closed by ten packets. Any one of them has the reason, and the others count as
// packets of a closed session.
func TestRow28CloseWithReason(t *testing.T) {
	for heard := range CloseRepeats {
		server, client := pair()
		_ = server.QueueReliable([]byte("the last word"))
		before, _ := server.Append(0, nil)
		var copies [CloseRepeats][]byte
		for n := range copies {
			d, _ := server.Append(0, nil)
			copies[n] = server.AppendClose(server.AppendReliable(d, 100), ReasonKicked)
		}
		if _, over := client.Closed(); over {
			t.Fatal("closed before it was")
		}
		rest, err := client.Receive(0, copies[heard]) // the nine others are lost
		if err == nil {
			rest, err = client.Sections(rest)
		}
		if why, over := client.Closed(); err != nil || len(rest) != 0 || !over || why != ReasonKicked {
			t.Fatalf("copy %d: %v, rest %x; closed %v, %v", heard, err, rest, over, why)
		}
		words := 0
		if drain(client, func([]byte) { words++ }); heard == 0 && words != 1 {
			t.Fatalf("%d reliable messages came with the close", words)
		}
		counters, was := Counters{}, *client
		for _, d := range append(copies[:], before) {
			counters.Arrived()
			rest, err := client.Receive(time.Second, d)
			if counters.Count(err); err != DropClosed || rest != nil {
				t.Fatalf("a packet after the end: %v", err)
			}
		}
		if !reflect.DeepEqual(*client, was) || !counters.Balanced() || counters.Drops[DropClosed] != CloseRepeats+1 {
			t.Fatalf("after the end: %+v", counters)
		}
		client.Reset(0, Config{})
		if _, over := client.Closed(); over || client.InFlight() != 0 {
			t.Fatal("a reset peer remembers")
		}
		if _, err := client.Receive(0, before); err != nil {
			t.Fatalf("a packet of the next session: %v", err)
		}
	}
}

// A Close with an unknown reason, a wrong length or a wrong place is refused, and the session goes
// on.
func TestCloseSection(t *testing.T) {
	type row struct {
		name    string
		section []byte
		rest    int
		err     error
		why     Reason
	}
	rows := []row{
		{"cut short", []byte{6}, 0, DropReason, 0},
		{"behind unreliable messages", []byte{4, 1, 0, 9, 6, 7}, 0, nil, ReasonLeft},
		{"behind all others", []byte{1, 1, 0, 0, 0, 9, 4, 1, 0, 9, 5, 0, 0, 0, 1, 0, 0, 0, 7, 6, 8}, 0, nil,
			ReasonTimeout},
		{"before an owner's section", []byte{6, 8, 3, 1, 2}, 3, nil, ReasonTimeout},
		{"before unreliable messages", []byte{6, 8, 4, 1, 0, 9}, 4, nil, ReasonTimeout},
		{"twice", []byte{6, 8, 6, 9}, 2, nil, ReasonTimeout},
		{"behind bad unreliable messages", []byte{4, 0, 6, 8}, 0, DropUnreliable, 0},
		{"behind an owner's section", []byte{3, 6, 8}, 3, nil, 0},
	}
	for why := range 256 {
		r := row{"reason", []byte{6, byte(why)}, 0, DropReason, 0}
		if why >= 1 && why <= 16 {
			r.err, r.why = nil, Reason(why)
		}
		rows = append(rows, r)
	}
	for i, c := range rows {
		server, _ := transferPair(10)
		_, client := transferPair(10)
		rest, err := client.Sections(c.section)
		if err != c.err || len(rest) != c.rest {
			t.Errorf("%d %s: rest %x, %v; want %d bytes, %v", i, c.name, rest, err, c.rest, c.err)
		}
		why, over := client.Closed()
		if why != c.why || over != (c.why != 0) {
			t.Errorf("%d %s: closed %v, %v", i, c.name, over, why)
		}
		d, _ := server.Append(0, nil)
		if _, err := client.Receive(0, d); (err == DropClosed) != over || err != nil && !over {
			t.Errorf("%d %s: the next packet: %v", i, c.name, err)
		}
		if why.Valid() && len(c.section) == 2 {
			if got := server.AppendClose(nil, why); string(got) != string(c.section) {
				t.Errorf("%d: wrote %x, want %x", i, got, c.section)
			}
		}
	}
}

package handoff

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
)

// Messages that no host of the fleet sends are refused by name.
func TestMessageCheckRefuses(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		want   string // "": fine
		change func(*message)
	}{
		{"", func(*message) {}},
		{"from", func(m *message) { m.To = "c" }},
		{"from", func(m *message) { m.From = "b" }},
		{"from", func(m *message) { m.From = "a b" }},
		{"minute", func(m *message) { m.Sent -= 61_000 }},
		{"minute", func(m *message) { m.Sent += 61_000 }},
		{"id", func(m *message) { m.ID = "" }},
		{"ready", func(m *message) { m.Ready = -1 }},
		{"kind", func(m *message) { m.Kind = "?" }},
		{"offer", func(m *message) { m.Kind = messageOffer }},
		{"offer", func(m *message) {
			m.Kind, m.Offer = messageOffer, &host.Offer{Seats: make([]server.Seat, announce.MaxSize)}
		}},
		{"lobby", func(m *message) { m.Kind = messagePrepared }},
		{"addresses", func(m *message) { m.Kind, m.Instance = messagePrepared, 1 }},
		{"state", func(m *message) { m.Kind = messageState }},
		{"", func(m *message) { m.Kind, m.Parts, m.Revision, m.Record = messageState, 1, 1, "7.1" }},
		{"state", func(m *message) { m.Kind, m.Parts, m.Revision, m.Record = messageState, 1, 1, "../x" }},
		{"state", func(m *message) { m.Kind, m.Parts, m.Part, m.Revision, m.Record = messageState, 1, 1, 1, "7.1" }},
		{"state", func(m *message) {
			m.Kind, m.Parts, m.Revision, m.Record, m.Bytes = messageState, 1, 1, "7.1", make([]byte, partSize+1)
		}},
	} {
		m := &message{ID: "1f", Kind: messageTaken, From: "a", To: "b", Sent: now.UnixMilli()}
		c.change(m)
		err := m.check("b", now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", m.Kind, err, c.want)
		}
	}
}

// The parts of a state make the whole in any order, and twice; other bytes than those of pack are an
// error.
func TestStateInParts(t *testing.T) {
	state := bytes.Repeat([]byte("a lobby, "), 100_000)
	packed := pack(state)
	const parts = 4
	size := (len(packed) + parts - 1) / parts
	var p parcel
	for n, i := range []int{2, 0, 2, 3, 1} {
		got, whole := p.add(&message{Part: i, Parts: parts, Bytes: packed[i*size : min(len(packed), (i+1)*size)]})
		if whole != (n == 4) {
			t.Fatalf("after part %d: whole %v", i, whole)
		}
		if whole {
			if back, err := unpack(got); err != nil || !bytes.Equal(back, state) {
				t.Errorf("%d bytes, %v", len(back), err)
			}
		}
	}
	if _, err := unpack(packed[:len(packed)/2]); err == nil {
		t.Error("half of a state was unpacked")
	}
	if _, err := unpack(pack(make([]byte, MaxState+1))); err == nil {
		t.Error("a state that is too long was unpacked")
	}
}

// A lobby goes to the fullest host that has room for it, holds its level and is heard of.
func TestChooseHost(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var v fleetView
	add := func(name string, players int, change func(*announce.Host)) {
		h := &announce.Host{Name: name, Boot: 1, Sequence: 1, MostRooms: 3, MostSlots: 16,
			Rooms: []announce.Room{{ID: 1, Players: players, Slots: 64}}}
		if change != nil {
			change(h)
		}
		v.take(h, now)
	}
	add("me", 60, nil)
	add("emptier", 3, nil)
	add("fuller", 30, nil)
	add("busy", 50, func(h *announce.Host) { h.Busy = 0.9 })
	add("full", 50, func(h *announce.Host) { h.MostRooms = 1 })
	add("small", 50, func(h *announce.Host) { h.MostSlots = 8 })
	add("drains", 50, func(h *announce.Host) { h.Draining = true })
	if got := v.choose("me", 10, now); !slices.Equal(got, []string{"fuller", "emptier"}) {
		t.Errorf("%v", got)
	}
	v.take(&announce.Host{Name: "fuller", Boot: 1, Sequence: 2, Draining: true}, now)
	v.take(&announce.Host{Name: "fuller", Boot: 1, Sequence: 1}, now) // late
	if got := v.choose("me", 10, now); !slices.Equal(got, []string{"emptier"}) {
		t.Errorf("after news: %v", got)
	}
	if got := v.choose("me", 10, now.Add(lease)); len(got) != 0 {
		t.Errorf("silent hosts: %v", got)
	}
}

// Each end of a move takes the messages that are for it, and no others: a source that took an offer
// would have no address to tell its clients.
func TestMessagesAreForOneEnd(t *testing.T) {
	for kind, ends := range map[messageKind][2]bool{ // for a target, for a source
		messageOffer: {true, false}, messageState: {true, false}, messageCancel: {true, true},
		messagePrepared: {false, true}, messageRefused: {false, true}, messageReady: {false, true},
		messageTaken: {false, true}, "?": {false, false},
	} {
		for n, want := range ends {
			if _, ok := eventOf(kind, n == 1); ok != want {
				t.Errorf("%s: source %v takes it: %v", kind, n == 1, ok)
			}
		}
	}
}

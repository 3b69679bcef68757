package client

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

func rosterOf(rows ...protocol.RosterRow) string {
	event := []byte{protocol.MessageRoster}
	for i := range rows {
		event = rows[i].Append(event)
	}
	return string(event)
}

func lineOf(c protocol.Chat) string {
	event, _, _ := c.Append(nil)
	return string(event)
}

// Any roster and chat messages are accepted or refused: none panics, and none takes more memory
// than the slots of a lobby.
func TestHostileNamesAndLines(t *testing.T) {
	long := protocol.Chat{Kind: protocol.ChatAll, Text: []byte(strings.Repeat("x", 256))}
	for i, c := range []struct {
		events []string
		bad    bool   // the last of them
		lines  string // what there is to show, in words
	}{
		0: {[]string{"\xc0"}, true, ""},
		1: {[]string{rosterOf(protocol.RosterRow{NetID: 0x701, Name: "Ann"})}, false, ""},
		2: {[]string{rosterOf(protocol.RosterRow{NetID: 0x801, Name: "Ann"})}, true, ""}, // no such slot
		3: {[]string{rosterOf(protocol.RosterRow{NetID: 0xffffff01, Name: "Ann"})}, true, ""},
		4: {[]string{rosterOf(protocol.RosterRow{NetID: 0x701})}, false, ""}, // left before we knew
		5: {[]string{rosterOf(protocol.RosterRow{NetID: 0x701, Name: "Ann"}),
			rosterOf(protocol.RosterRow{NetID: 0x702, Name: "Bob", New: true})},
			false, "* Ann has left|* Bob has come in"},
		6: {[]string{rosterOf(protocol.RosterRow{NetID: 0x701, Name: "Ann"}),
			rosterOf(protocol.RosterRow{NetID: 0x701, Name: "Bob"})}, false, "* Ann is now called Bob"},
		7: {[]string{rosterOf(protocol.RosterRow{NetID: 0x701, Name: "Ann"}),
			rosterOf(protocol.RosterRow{NetID: 0x701})}, false, "* Ann has left"},
		8:  {[]string{"\xc1"}, true, ""},
		9:  {[]string{"\xc2rest of nothing"}, true, ""},
		10: {[]string{lineOf(long)}, false, ""}, // waits for the rest
		11: {[]string{lineOf(long), lineOf(long)}, true, ""},
		12: {[]string{lineOf(long), "\xc2" + strings.Repeat("x", 14)}, false,
			"[0:00] : " + strings.Repeat("x", 256)},
		13: {[]string{lineOf(long), "\xc2" + strings.Repeat("x", 15)}, true, ""},
		14: {[]string{lineOf(long), "\xc2"}, false, "[0:00] : " + strings.Repeat("x", 242)},
		15: {[]string{lineOf(protocol.Chat{Kind: protocol.ChatNotice, Text: []byte("a\x1b[2J")})}, true, ""},
		16: {[]string{lineOf(protocol.Chat{Kind: protocol.ChatAll, From: 0xffffff01, Text: []byte("hi")})},
			false, "[0:00] : hi"},
		17: {[]string{lineOf(protocol.Chat{Kind: protocol.ChatIdle, Seconds: 60})},
			false, "* you do nothing: move, or you are removed in 60 s"},
	} {
		for _, thin := range []bool{false, true} {
			client := &Client{Chat: Chat{linesOnly: thin, ring: ringbuf.New[Line](maxLines)}}
			var err error
			for _, e := range c.events {
				var ok bool
				if ok, err = client.Chat.message([]byte(e), 8); !ok {
					t.Fatalf("%d: is nothing of ours", i)
				}
			}
			var lines []string
			for l, ok := client.Chat.Next(); ok; l, ok = client.Chat.Next() {
				lines = append(lines, string(l.Append(nil, 1)))
			}
			if thin && c.events[0][0] == protocol.MessageRoster {
				if _, knows := client.Chat.Player(7); knows || len(lines) > 0 {
					t.Errorf("%d: a thin client knows somebody, and shows %q", i, lines)
				}
				continue
			}
			if got := strings.Join(lines, "|"); (err != nil) != c.bad ||
				err != nil && err != packet.DropMessage || got != c.lines {
				t.Errorf("%d: %q, %v; want %q, bad %v", i, got, err, c.lines, c.bad)
			}
		}
	}
}

// Unread lines are replaced by newer ones, and counted.
func TestUnreadLines(t *testing.T) {
	q := Chat{ring: ringbuf.New[Line](maxLines)}
	for i := range uint32(100) {
		q.add(Line{Seconds: i})
	}
	q.pending, q.conn = true, &conn{}
	c := &Client{Chat: q}
	if l, ok := c.Chat.Next(); !ok || l.Seconds != 36 || c.Chat.ring.Lost() != 36 ||
		c.Chat.ring.Added() != 100 {
		t.Errorf("%+v, %d overwritten", l, c.Chat.ring.Lost())
	}
	if err := c.Chat.Say("hi"); err != ErrNotJoined {
		t.Errorf("before it is in: %v", err)
	}
}

func FuzzNamesAndLines(f *testing.F) {
	f.Add([]byte(rosterOf(protocol.RosterRow{NetID: 0x701, Name: "Ann"})),
		[]byte(lineOf(protocol.Chat{From: 0x701, Text: []byte("hi")})))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		c := &Client{Chat: Chat{ring: ringbuf.New[Line](maxLines)}}
		for _, e := range [][]byte{a, b, a, b} {
			if len(e) == 0 || len(e) > packet.MaxMessageSize {
				continue
			}
			if _, err := c.Chat.message(e, 8); err != nil && err != packet.DropMessage {
				t.Fatal(err)
			}
		}
		if len(c.Chat.players) > 8 {
			t.Fatalf("%d players", len(c.Chat.players))
		}
		for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
			if text := l.Append(nil, 0); !protocol.ValidText(text, 1024) {
				t.Fatalf("shows %q", text)
			}
		}
	})
}

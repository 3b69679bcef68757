package protocol

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/netio/packet"
)

// social is what the golden reliable messages of names and lines mean.
var (
	goldenRoster = []RosterRow{{NetID: 0x201, New: true, Name: "Ann"}, {NetID: 0x501, Team: 1, Name: "Zoë"},
		{NetID: 0x902}}
	goldenChat = Chat{Kind: ChatWhisper, Seconds: 65, From: 0x501, To: 0x201, Text: []byte("hi")}
)

func goldenSocial(t testing.TB) map[string][]byte {
	text, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```golden-social\n")
	block, _, _ = strings.Cut(block, "```")
	all, name := map[string][]byte{}, ""
	for line := range strings.Lines(block) {
		if line[0] != ' ' {
			name = strings.TrimSpace(line)
		} else {
			all[name] = append(all[name], unhex(t, strings.TrimSpace(line))...)
		}
	}
	return all
}

func rosterEvent(rows []RosterRow) []byte {
	event := []byte{MessageRoster}
	for i := range rows {
		event = rows[i].Append(event)
	}
	return event
}

// rosterRows reads all rows of a reliable message.
func rosterRows(event []byte) (rows []RosterRow, err error) {
	for rest := event[1:]; len(rest) > 0; {
		var r RosterRow
		if r, rest, err = ParseRosterRow(rest); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func TestGoldenNamesAndLines(t *testing.T) {
	doc := goldenSocial(t)
	line, _, _ := goldenChat.Append(nil)
	say, _, _ := AppendLine(nil, MessageSay, []byte("/w Ab hi"))
	ask, _, _ := AppendLine(nil, MessageConsole, []byte("status"))
	for name, got := range map[string][]byte{"roster": rosterEvent(goldenRoster), "line": line, "say": say,
		"ask": ask} {
		if !bytes.Equal(got, doc[name]) {
			t.Errorf("%s: wrote %x, the document says %x", name, got, doc[name])
		}
	}
	rows, err := rosterRows(doc["roster"])
	if err != nil || len(rows) != 3 || rows[0] != goldenRoster[0] || rows[1] != goldenRoster[1] ||
		rows[2] != goldenRoster[2] {
		t.Errorf("%+v, %v", rows, err)
	}
	c, more, err := ParseChat(doc["line"])
	if err != nil || more || c.From != 0x501 || c.To != 0x201 || c.Seconds != 65 || c.Kind != ChatWhisper ||
		string(c.Text) != "hi" {
		t.Errorf("%+v, %v, %v", c, more, err)
	}
	for n := range len(doc["line"]) - 2 {
		if _, _, err := ParseChat(doc["line"][:n]); err != packet.DropMessage {
			t.Errorf("a line of %d bytes: %v", n, err)
		}
	}
}

// Texts and lines of every length are whole again after one reliable message or two.
func TestLinesOfEveryLength(t *testing.T) {
	text := []byte(strings.Repeat("0123456789", 30))
	for n := range MaxLine + 1 {
		c := Chat{Kind: ChatAll, From: 1, Text: text[:n]}
		event, rest, more := c.Append(nil)
		got, goesOn, err := ParseChat(event)
		if err != nil || goesOn != more || len(event) > packet.MaxMessageSize ||
			len(rest) > packet.MaxMessageSize-1 || string(got.Text)+string(rest) != string(text[:n]) ||
			!more && len(rest) > 0 {
			t.Fatalf("text of %d: %d bytes, %v, %d more, %v", n, len(event), goesOn, len(rest), err)
		}
		event, rest, more = AppendLine(nil, MessageSay, text[:n])
		if more != (len(event) == packet.MaxMessageSize) || !more && len(rest) > 0 || len(rest) > 1 ||
			string(event[1:])+string(rest) != string(text[:n]) {
			t.Fatalf("line of %d: %d bytes, %v, %d more", n, len(event), more, len(rest))
		}
	}
}

func TestBadNames(t *testing.T) {
	for i, c := range []string{
		"c0 01", "c0 00000000 00 00", "c0 01020000 00 01", "c0 01020000 00 80", "c0 01020000 00 01 0a",
		"c0 01020000 00 01 ff",
		"c0 01020000 00 03 e280ae", "c0 01020000 00 41" + strings.Repeat("41", 65), "c0 01020000 00 01 41 00",
	} {
		if rows, err := rosterRows(unhex(t, c)); err != packet.DropMessage {
			t.Errorf("%d: %+v, %v", i, rows, err)
		}
	}
	if _, _, err := ParseChat(append([]byte{MessageChat, byte(NumChatKinds)},
		make([]byte, 12)...)); err != packet.DropMessage {
		t.Errorf("a kind that there is not: %v", err)
	}
	if _, _, err := ParseChat(append([]byte{MessageChat, 0},
		make([]byte, 255)...)); err != packet.DropMessage {
		t.Errorf("a line of 257 bytes: %v", err)
	}
}

func FuzzRoster(f *testing.F) {
	f.Add(goldenSocial(f)["roster"])
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) == 0 || src[0] != MessageRoster {
			return
		}
		rows, err := rosterRows(src)
		checked(t, src, err)
		if err == nil && !bytes.Equal(rosterEvent(rows), src) {
			t.Fatalf("%x was read and written as %x", src, rosterEvent(rows))
		}
	})
}

func FuzzChat(f *testing.F) {
	f.Add(goldenSocial(f)["line"])
	f.Fuzz(func(t *testing.T, src []byte) {
		c, _, err := ParseChat(src)
		checked(t, src, err)
		if err == nil {
			if got, rest, _ := c.Append(nil); !bytes.Equal(got, src) || len(rest) > 0 {
				t.Fatalf("%x was read and written as %x and %x", src, got, rest)
			}
		}
	})
}

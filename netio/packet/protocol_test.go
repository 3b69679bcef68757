package packet

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// page reads the golden sections of PROTOCOL.md: a name at the margin, its bytes below it,
// indented.
func page(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```golden-sections\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("PROTOCOL.md has no block golden-sections")
	}
	all, name := map[string][]byte{}, ""
	for line := range strings.Lines(block) {
		if line[0] != ' ' {
			name = strings.TrimSpace(line)
			continue
		}
		b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(line), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = append(all[name], b...)
	}
	return all
}

// TestPage writes and reads the sections that PROTOCOL.md shows.
func TestPage(t *testing.T) {
	doc := page(t)
	server, client := transferPair(2000)
	transfer := make([]byte, 1029)
	for i := range 5 {
		transfer[1024+i] = byte(0xa0 + i)
	}
	events, texts := [][]byte{{0x80}, {10, 11, 12}}, [][]byte{{7, 8}, {9}}
	for i := range 2 {
		if server.QueueReliable(events[i]) != nil || server.QueueUnreliable(texts[i]) != nil {
			t.Fatal("not taken")
		}
	}
	if err := server.SendTransfer(transfer); err != nil {
		t.Fatal(err)
	}
	first, _ := server.Append(0, nil)
	first = server.AppendFragment(first, FragmentSectionSize)
	second, _ := server.Append(0, nil)
	head := len(second)
	second = server.AppendReliable(second, 100)
	second = server.AppendUnreliable(second, 100)
	second = server.AppendFragment(second, FragmentSectionSize)
	want := bytes.Join([][]byte{doc["reliable messages"], doc["unreliable messages"], doc["fragment"]}, nil)
	if !bytes.Equal(second[head:], want) {
		t.Errorf("wrote\n%x, the page says\n%x", second[head:], want)
	}
	payload, err := client.Receive(0, first)
	if _, err2 := client.Sections(payload); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if rest, err := client.Sections(append(want, 3, 9)); err != nil || !bytes.Equal(rest, []byte{3, 9}) {
		t.Fatalf("rest %x, %v", rest, err)
	}
	for i := range 2 {
		e, _ := client.NextReliable()
		n, _ := client.NextUnreliable()
		if !bytes.Equal(e, events[i]) || !bytes.Equal(n, texts[i]) {
			t.Errorf("%d: read reliable message %x and note %x", i, e, n)
		}
	}
	if b, ok := client.NextTransfer(); !ok || !bytes.Equal(b, transfer) {
		t.Errorf("read a transfer of %d bytes, %v", len(b), ok)
	}
	if got := server.AppendClose(nil, ReasonClosing); !bytes.Equal(got, doc["close"]) {
		t.Errorf("wrote the close %x, the page says %x", got, doc["close"])
	}
	if rest, err := client.Sections(doc["close"]); err != nil || len(rest) != 0 {
		t.Errorf("close: rest %x, %v", rest, err)
	}
	if why, over := client.Closed(); !over || why != ReasonClosing {
		t.Errorf("closed %v, %v", over, why)
	}
	if len(doc) != 4 {
		t.Errorf("the page has %d examples, want 4", len(doc))
	}
}

// TestPageByHand reads the same sections by the offsets of the page alone, and writes them again.
func TestPageByHand(t *testing.T) {
	doc := page(t)
	src := bytes.Join([][]byte{doc["reliable messages"], doc["unreliable messages"],
		doc["fragment"], doc["close"]}, nil)
	var again []byte
	next := func(size int) (n int) { // the next number, little-endian
		for i := range size {
			n |= int(src[i]) << (8 * i)
		}
		again, src = append(again, src[:size]...), src[size:]
		return n
	}
	take := func(size int) string {
		b := src[:size]
		again, src = append(again, b...), src[size:]
		return string(b)
	}
	want := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("events", next(1), 1)
	want("count", next(1), 2)
	want("id", next(2), 0)
	want("event", take(next(1)+1), "\x80")
	want("id", next(2), 1)
	want("event", take(next(1)+1), "\x0a\x0b\x0c")
	want("unreliable messages", next(1), 4)
	want("count", next(1), 2)
	want("unreliable message", take(next(1)+1), "\x07\x08")
	want("unreliable message", take(next(1)+1), "\x09")
	want("fragment", next(1), 5)
	want("transfer", next(2), 0)
	index := next(1)
	size := next(4)
	want("size", size, 1029)
	want("bytes", take(min(1024, size-1024*index)), "\xa0\xa1\xa2\xa3\xa4")
	want("close", next(1), 6)
	want("reason", next(1), 6)
	if len(src) != 0 || !bytes.Equal(again,
		bytes.Join([][]byte{doc["reliable messages"], doc["unreliable messages"],
			doc["fragment"], doc["close"]}, nil)) {
		t.Errorf("%x remains", src)
	}
}

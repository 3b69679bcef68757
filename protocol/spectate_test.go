package protocol

import (
	"bytes"
	"testing"

	"github.com/tickrate/tickrate/netio/packet"
)

func TestGoldenWatches(t *testing.T) {
	doc := goldenSocial(t)
	target, watch := Watch{WatchPlayer, 0x201}, Watch{Kind: WatchNext}
	for name, got := range map[string][]byte{"target": target.Append(nil, TagTarget), "watch": watch.Append(nil, TagWatch), "tempo": AppendTempo(nil, 800)} {
		if !bytes.Equal(got, doc[name]) {
			t.Errorf("%s: wrote %x, the document says %x", name, got, doc[name])
		}
	}
	if w, err := ParseWatch(doc["target"], TagTarget); err != nil || w != target {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := ParseWatch(doc["watch"], TagWatch); err != nil || w != watch {
		t.Errorf("%+v, %v", w, err)
	}
	if tempo, err := ParseTempo(doc["tempo"]); err != nil || tempo != 800 {
		t.Errorf("%d, %v", tempo, err)
	}
}

func TestBadWatches(t *testing.T) {
	for i, c := range []string{
		"", "c8", "c8 01 000000", "c8 01 00000000", "c8 00 01000000", "c8 02 00000000", "c8 01 01000000 00", "c9 04 00000000", "c9 02 01000000", "c9 01 00000000",
	} {
		src := unhex(t, c)
		for _, tag := range []byte{TagTarget, TagWatch} {
			if w, err := ParseWatch(src, tag); err != packet.DropEvents {
				t.Errorf("%d, %x: %+v, %v", i, tag, w, err)
			}
		}
	}
	for tempo := range 1 << 16 {
		got, err := ParseTempo(AppendTempo(nil, uint16(tempo)))
		if good := tempo >= 250 && tempo <= 1000; good != (err == nil) || good && got != uint16(tempo) {
			t.Fatalf("tempo %d: %d, %v", tempo, got, err)
		}
	}
	for i, c := range []string{"", "f5", "f5 01", "f5 00 f4 02", "f4 01 f4 02"} {
		if world, event, err := ParseElsewhere(unhex(t, c)); err != packet.DropEvents {
			t.Errorf("elsewhere %d: %d, %x, %v", i, world, event, err)
		}
	}
}

// The worlds of a session are numbered from 1, and never 0 again.
func TestElsewhere(t *testing.T) {
	w := goldenContent("arena-64")
	world := uint8(0)
	for n := range 600 {
		world = NextWorld(world)
		if want := uint8(n%255 + 1); world != want {
			t.Fatalf("change %d: world %d, want %d", n, world, want)
		}
		event := w.Append(AppendElsewhere(nil, world))
		got, rest, err := ParseElsewhere(event)
		if err != nil || got != world || len(event) > MaxElsewhere {
			t.Fatalf("%d, %v, %d bytes", got, err, len(event))
		}
		if back, err := ParseWelcome(rest); err != nil || back != *w {
			t.Fatalf("%+v, %v", back, err)
		}
	}
	var data [256]byte
	if Spectates(data[:]) || Spectates(nil) || Spectates([]byte("spectat")) {
		t.Error("an empty one spectates")
	}
	if MarkSpectator(data[:]); !Spectates(data[:]) {
		t.Error("a marked one does not")
	}
}

func FuzzWatch(f *testing.F) {
	for _, b := range goldenSocial(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, tag := range []byte{TagTarget, TagWatch} {
			if w, err := ParseWatch(src, tag); err == nil && !bytes.Equal(w.Append(nil, tag), src) {
				t.Fatalf("%x was read as %+v", src, w)
			}
		}
		if tempo, err := ParseTempo(src); err == nil && !bytes.Equal(AppendTempo(nil, tempo), src) {
			t.Fatalf("%x was read as %d", src, tempo)
		}
		if world, event, err := ParseElsewhere(src); err == nil && !bytes.Equal(append(AppendElsewhere(nil, world), event...), src) {
			t.Fatalf("%x was read as world %d and %x", src, world, event)
		}
	})
}

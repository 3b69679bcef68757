package protocol

import (
	"bytes"
	"testing"

	"github.com/tickrate/tickrate/netio/packet"
)

func TestGoldenSpectate(t *testing.T) {
	doc := goldenSocial(t)
	target, spectate := Spectate{SpectatePlayer, 0x201}, Spectate{Mode: SpectateNext}
	for name, got := range map[string][]byte{"target": target.Append(nil, MessageViewpoint),
		"spectate": spectate.Append(nil, MessageSpectate), "timescale": AppendTimescale(nil, 800)} {
		if !bytes.Equal(got, doc[name]) {
			t.Errorf("%s: wrote %x, the document says %x", name, got, doc[name])
		}
	}
	if w, err := ParseSpectate(doc["target"], MessageViewpoint); err != nil || w != target {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := ParseSpectate(doc["spectate"], MessageSpectate); err != nil || w != spectate {
		t.Errorf("%+v, %v", w, err)
	}
	if scale, err := ParseTimescale(doc["timescale"]); err != nil || scale != 800 {
		t.Errorf("%d, %v", scale, err)
	}
}

func TestBadSpectate(t *testing.T) {
	for i, c := range []string{
		"", "c8", "c8 01 000000", "c8 01 00000000", "c8 00 01000000", "c8 02 00000000", "c8 01 01000000 00",
		"c9 04 00000000", "c9 02 01000000", "c9 01 00000000",
	} {
		src := unhex(t, c)
		for _, tag := range []byte{MessageViewpoint, MessageSpectate} {
			if w, err := ParseSpectate(src, tag); err != packet.DropMessage {
				t.Errorf("%d, %x: %+v, %v", i, tag, w, err)
			}
		}
	}
	for scale := range 1 << 16 {
		got, err := ParseTimescale(AppendTimescale(nil, uint16(scale)))
		if good := scale >= 250 && scale <= 1000; good != (err == nil) || good && got != uint16(scale) {
			t.Fatalf("scale %d: %d, %v", scale, got, err)
		}
	}
	for i, c := range []string{"", "f5", "f5 01", "f5 00 f4 02", "f4 01 f4 02"} {
		if world, event, err := ParseMapChange(unhex(t, c)); err != packet.DropMessage {
			t.Errorf("map change %d: %d, %x, %v", i, world, event, err)
		}
	}
}

// Map epochs count from 1 and skip 0.
func TestMapChange(t *testing.T) {
	w := goldenContent("arena-64")
	world := uint8(0)
	for n := range 600 {
		world = NextMapEpoch(world)
		if want := uint8(n%255 + 1); world != want {
			t.Fatalf("change %d: world %d, want %d", n, world, want)
		}
		event := w.Append(AppendMapChange(nil, world))
		got, rest, err := ParseMapChange(event)
		if err != nil || got != world || len(event) > MaxMapChange {
			t.Fatalf("%d, %v, %d bytes", got, err, len(event))
		}
		if back, err := ParseWelcome(rest); err != nil || back != *w {
			t.Fatalf("%+v, %v", back, err)
		}
	}
	var data [256]byte
	if IsSpectator(data[:]) || IsSpectator(nil) || IsSpectator([]byte("spectat")) {
		t.Error("an empty one spectates")
	}
	if MarkSpectator(data[:]); !IsSpectator(data[:]) {
		t.Error("a marked one does not")
	}
}

func FuzzSpectate(f *testing.F) {
	for _, b := range goldenSocial(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, tag := range []byte{MessageViewpoint, MessageSpectate} {
			if w, err := ParseSpectate(src, tag); err == nil && !bytes.Equal(w.Append(nil, tag), src) {
				t.Fatalf("%x was read as %+v", src, w)
			}
		}
		if scale, err := ParseTimescale(src); err == nil && !bytes.Equal(AppendTimescale(nil, scale), src) {
			t.Fatalf("%x was read as %d", src, scale)
		}
		if world, event, err := ParseMapChange(src); err == nil &&
			!bytes.Equal(append(AppendMapChange(nil, world), event...), src) {
			t.Fatalf("%x was read as world %d and %x", src, world, event)
		}
	})
}

package sim

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/object"
)

func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Event{
			Kind:   rapid.SampledFrom([]EventKind{EventHit, EventKill}).Draw(t, "kind"),
			Part:   rig.Part(rapid.Uint8Range(0, 15).Draw(t, "part")),
			Cause:  object.Cause(rapid.Uint8Range(0, 15).Draw(t, "cause")),
			Tick:   tick.Tick(rapid.Uint32().Draw(t, "tick")),
			Actor:  netid.ID(rapid.Uint32().Draw(t, "actor")),
			Victim: netid.ID(rapid.Uint32().Draw(t, "victim")), Amount: rapid.Uint16().Draw(t, "amount"),
		}
		src := e.Append([]byte("x"))
		if got, err := ParseEvent(src[1:]); err != nil || got != e || src[0] != 'x' {
			t.Fatalf("%+v: %v, want %+v", got, err, e)
		}
	})
}

func TestEventRefuses(t *testing.T) {
	good := Event{Kind: EventHit}.Append(nil)
	for i, c := range []struct {
		name string
		src  []byte
	}{
		0: {"nothing", nil},
		1: {"15 bytes", good[:15]},
		2: {"17 bytes", append(bytes.Clone(good), 0)},
		3: {"kind 0", make([]byte, 16)},
		4: {"kind 3", append([]byte{3}, good[1:]...)},
		5: {"a request to resync", []byte{AskResync}},
		6: {"16 bytes of a request to resync", append([]byte{AskResync}, good[1:]...)},
	} {
		if e, err := ParseEvent(c.src); err != ErrEvent || e != (Event{}) {
			t.Errorf("%d %s: %+v, %v", i, c.name, e, err)
		}
	}
}

// A message that is accepted, written again, gives the same bytes.
func FuzzParseEvent(f *testing.F) {
	f.Add(Event{Kind: EventKill, Part: rig.PartHead, Tick: 9, Actor: 0x101, Victim: 0x201,
		Amount: 3}.Append(nil))
	f.Add(make([]byte, 16))
	f.Add([]byte{AskResync})
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := ParseEvent(src)
		if err == nil && !bytes.Equal(e.Append(nil), src) {
			t.Fatalf("%x was read as %+v", src, e)
		}
	})
}

package netstate

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

func TestEmbeddedModels(t *testing.T) {
	m := Trained()
	if m.Public == nil || m.Owner == nil || m.Objects == nil || m.Hash() == 0 ||
		m.Hash() == Untrained().Hash() || Trained() != m {
		t.Fatalf("the embedded models: %+v", m)
	}
	if !bytes.Equal(m.Append(nil), trained) {
		t.Error("the embedded models, written again, are other bytes")
	}
	if m.Public.Schema().Hash() != Public.Hash() || m.Owner.Schema().Hash() != Owner.Hash() ||
		m.Objects.Schema().Hash() != Objects.Hash() {
		t.Error("the embedded models code other schemas: run go generate ./sim/netstate")
	}
}

func TestModelsRoundTrip(t *testing.T) {
	counts := NewCounts()
	counts.Public.Fields[PlayerStateX][3], counts.Owner.Masks[0][5], counts.Objects.Masks[0][3] = 1000,
		1000, 1000
	for i, m := range []Models{Untrained(), Trained(), Train(counts)} {
		src := m.Append([]byte("x"))
		got, err := ParseModels(src[1:])
		if err != nil || got.Hash() != m.Hash() || got.Public.Hash() != m.Public.Hash() ||
			got.Owner.Hash() != m.Owner.Hash() || got.Objects.Hash() != m.Objects.Hash() {
			t.Errorf("%d: %v", i, err)
		}
	}
	if Train(NewCounts()).Hash() != Untrained().Hash() {
		t.Error("trained on nothing is not untrained")
	}
	swapped := Models{Public: Untrained().Owner, Owner: Untrained().Public, Objects: Untrained().Objects}
	if swapped.Hash() == Untrained().Hash() {
		t.Error("the hash does not tell the models apart")
	}
}

// A client finds the codec by the hash, and stays with what it has if the models are others.
func TestFollow(t *testing.T) {
	m, seen := Trained(), map[uint64]bool{}
	for c := range schema.Codecs {
		theirs := m.WithCodec(c)
		if got := m.WithHash(theirs.Hash()); got.Hash() != theirs.Hash() || got.Public.Codec() != c ||
			seen[got.Hash()] {
			t.Errorf("%v: followed to %v", c, got.Public.Codec())
		}
		seen[theirs.Hash()] = true
	}
	if got := m.WithHash(Untrained().WithCodec(schema.Range).Hash()); got != m {
		t.Errorf("followed other models: %v", got.Public.Codec())
	}
}

// Every file that is not whole is refused in one line that says what is wrong: cut anywhere, or any
// bit turned.
func TestDamagedModels(t *testing.T) {
	refused := func(what string, src []byte) {
		t.Helper()
		m, err := ParseModels(src)
		if err == nil || m != (Models{}) || strings.Contains(err.Error(), "\n") ||
			!errors.Is(err, ErrModels) && !errors.Is(err, schema.ErrModel) {
			t.Fatalf("%s: %+v, %v", what, m, err)
		}
	}
	for n := 0; n < len(trained); n += 29 {
		refused("cut short", trained[:n])
	}
	for bit := 0; bit < 8*len(trained); bit += 53 { // of every byte in turn another
		src := bytes.Clone(trained)
		src[bit/8] ^= 1 << (bit % 8)
		refused("a bit turned", src)
	}
	refused("a byte more", append(bytes.Clone(trained), 0))
	refused("zeros", make([]byte, 1000))
	refused("no model", []byte("this is not a model file, it is prose"))
	for i, c := range []struct {
		m    Models
		want string
	}{
		{Models{Untrained().Owner, Untrained().Owner, Untrained().Objects}, "public rows: "},
		{Models{Untrained().Public, Untrained().Public, Untrained().Objects}, "owner rows: "},
		{Models{Untrained().Public, Untrained().Owner, Untrained().Public}, "objects: "},
	} {
		_, err := ParseModels(c.m.Append(nil))
		if !errors.Is(err, schema.ErrModel) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q and why", i, err, c.want)
		}
	}
}

func FuzzParseModels(f *testing.F) {
	f.Add(trained)
	f.Add(Untrained().Append(nil))
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ParseModels(src)
		if err == nil && !bytes.Equal(m.Append(nil), src) {
			again, err := ParseModels(m.Append(nil)) // runs of lengths may be split otherwise
			if err != nil || again.Hash() != m.Hash() {
				t.Fatalf("%v", err)
			}
		}
	})
}

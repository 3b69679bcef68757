package netstate

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

// The dictionaries of this build are small, read as they were written, and part of the hash of
// models that pack, and of no others.
func TestEmbeddedDictionaries(t *testing.T) {
	d := TrainedDictionaries()
	if !bytes.Equal(d.Append(nil), trainedDictionaries) || len(trainedDictionaries) > 12<<10 {
		t.Errorf("%d bytes, or written again they are others", len(trainedDictionaries))
	}
	for i, part := range d.parts() {
		if len(part) == 0 {
			t.Errorf("dictionary %d is none", i)
		}
	}
	none, err := schema.NewDictionaries(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := Trained().WithDictionaries(Dictionaries{none, none})
	for c := range schema.Codecs {
		if same := other.WithCodec(c).Hash() == Trained().WithCodec(c).Hash(); same == c.Packs() {
			t.Errorf("%v: the same hash with other dictionaries: %v", c, same)
		}
	}
}

// Models that pack are sent with their dictionaries: a client that has others can use the file.
func TestModelsCarryDictionaries(t *testing.T) {
	none, err := schema.NewDictionaries(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []schema.Codec{schema.Zstd, schema.HuffmanZstd} {
		plain := Untrained().WithDictionaries(Dictionaries{none, none})
		for i, theirs := range []Models{Trained().WithCodec(c), plain.WithCodec(c)} {
			file := theirs.Append(nil)
			got, err := ParseModels(file)
			if err != nil || got.WithHash(theirs.Hash()).Hash() != theirs.Hash() {
				t.Errorf("%v, %d: %v", c, i, err)
			}
			for n := 0; n < len(file); n += 97 {
				_, err := ParseModels(file[:n])
				if !errors.Is(err, ErrModels) && !errors.Is(err, schema.ErrModel) {
					t.Fatalf("cut to %d bytes: %v", n, err)
				}
			}
			bad := bytes.Clone(file)
			bad[5] ^= 1
			if _, err := ParseModels(bad); !errors.Is(err, ErrModels) || strings.Contains(err.Error(), "\n") {
				t.Errorf("a bit turned: %v", err)
			}
		}
	}
}

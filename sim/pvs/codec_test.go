package pvs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"
)

func stored(tb testing.TB) (*Table, []byte) {
	tb.Helper()
	a := town(24, 3)
	t, err := Build(a, Fit(a, 8))
	if err != nil {
		tb.Fatal(err)
	}
	data, err := t.AppendBinary([]byte("before"))
	if err != nil || !bytes.HasPrefix(data, []byte("before")) {
		tb.Fatal("AppendBinary does not append")
	}
	return t, data[len("before"):]
}

func TestLoad(t *testing.T) {
	table, data := stored(t)
	back, err := Load(data, table.Arena(), 0)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := back.AppendBinary(nil)
	if !bytes.Equal(data, again) {
		t.Error("what was loaded is stored otherwise")
	}
	for x := range table.Cells() {
		for y := range table.Cells() {
			if table.Visible(x, y) != back.Visible(x, y) {
				t.Fatalf("cells %d and %d differ", x, y)
			}
		}
	}
	if _, err := Load(data, [32]byte{1}, 0); !errors.Is(err, ErrArena) {
		t.Errorf("another arena: %v", err)
	}
	if _, err := Load(data, table.Arena(), 10); err == nil {
		t.Error("a table above maxBytes was loaded")
	}
	for n := range len(data) {
		if _, err := Load(data[:n], table.Arena(), 0); err == nil {
			t.Fatalf("loaded from the first %d bytes of %d", n, len(data))
		}
	}
	for i := range data {
		wrong := bytes.Clone(data)
		wrong[i] ^= 1
		if _, err := Load(wrong, table.Arena(), 0); err == nil {
			t.Fatalf("loaded with byte %d wrong", i)
		}
	}
}

// FuzzLoad puts the right checksum below whatever it is given: what then loads must be stored as it
// came.
func FuzzLoad(f *testing.F) {
	table, data := stored(f)
	f.Add(data[:len(data)-32])
	f.Add(data[:fixedBytes])
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		data := append(bytes.Clone(body), sum[:]...)
		back, err := Load(data, table.Arena(), 1<<16)
		if err != nil {
			return
		}
		if again, _ := back.AppendBinary(nil); !bytes.Equal(data, again) {
			t.Error("what was loaded is stored otherwise")
		}
	})
}

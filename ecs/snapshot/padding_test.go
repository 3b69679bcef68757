package snapshot

import (
	"bytes"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Padding behind the last run changes nothing, however long; in its place an odd byte is still an
// error.
func TestPaddingIsIgnored(t *testing.T) {
	m := schema.DefaultModel(schema.Schema{Name: "one", Fields: []schema.Field{{Name: "v"}}})
	section := append(AppendRun(nil, Run{First: 1, Count: 1}, 5, 1), 0) // 16 rows of nobody
	for n := range 70 {
		d := NewDecoder(m, 48, 1)
		if err := d.Section(5, append(bytes.Clone(section), bytes.Repeat([]byte{Padding}, n)...)); err != nil {
			t.Fatalf("%d bytes of padding: %v", n, err)
		}
		if d.At(5) == nil || !d.At(5).HasGroup(1) || d.At(5).HasGroup(0) {
			t.Fatalf("%d bytes of padding: not the group that was sent", n)
		}
	}
	d := NewDecoder(m, 48, 1)
	if err := d.Section(5, append(bytes.Clone(section), 0xfe)); err == nil {
		t.Error("a byte that is no padding passes")
	}
	if d.At(5) != nil {
		t.Error("a refused section left a trace")
	}
}

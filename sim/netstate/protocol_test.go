package netstate

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
)

// page reads a block of PROTOCOL.md: a name at the margin, what belongs to it below, indented.
func page(t *testing.T, fence string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```"+fence+"\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatalf("PROTOCOL.md has no block %s", fence)
	}
	all, name := map[string]string{}, ""
	for line := range strings.Lines(block) {
		if line[0] != ' ' {
			name = strings.TrimSpace(line)
			continue
		}
		all[name] += strings.ReplaceAll(strings.TrimSpace(line), " ", "")
	}
	return all
}

// The players of the worked example at both ticks: one in slot 2, and its own client. Interval 3.
var (
	exampleTicks  = [2]tick.Tick{300, 303}
	examplePublic = [2][]int32{
		{1000, 0, -256, 1024, -5, 3, 100, 0, 0, 0, 0, 0},
		{1013, 0, -256, 1020, -5, 3, 100, 0, 0, 0, 0, 0},
	}
	exampleOwner = [2][]int32{
		{32000, 0, -8192, 6144, 0, 0, 1, 40, 2, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6425, 0, 0, 0, 0,
			0, 0, 0, 0, 0, 0, 0},
		{32307, 0, -8192, 6144, 0, 0, 1, 43, 2, 0, 0, 0, 0, 33, 0, 2944, 0, 0, 0, 0, 0, 0, 0, 6424, 0, 0, 0,
			0, 0, 0, 0, 128, 0, 0, 0},
	}
)

const exampleID = netid.ID(2<<8 | 1)

// TestSnapshotExample writes the sections of PROTOCOL.md and reads them: both must agree with the
// page, byte by byte.
func TestSnapshotExample(t *testing.T) {
	doc := page(t, "golden-snapshots")
	m := Untrained()
	ring, e, k := snapshot.NewRing(Public, 16, 256, 1), snapshot.NewEncoder(m.Public, 16),
		snapshot.NewTracker(16, 3)
	own, self, others := snapshot.NewOwnerWriter(m.Owner, 3), snapshot.NewOwnerReader(m.Owner, 3),
		snapshot.NewDecoder(m.Public, 16, 3)
	var p snapshot.Packer
	for i, name := range []string{"first", "second"} {
		at := exampleTicks[i]
		frame := ring.Begin(at)
		frame.Set(exampleID.Index(), exampleID, examplePublic[i])
		e.Begin(frame, ring)
		k.Advance(at)
		p.Begin(e, k, 0, 1)
		got := own.Append(Header{Tick: at, Owner: true}.Append([]byte{3}), at, exampleOwner[i])
		got, first, count, _ := p.Next(got, 1000)
		if want, err := hex.DecodeString(doc[name]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: wrote\n%x, the page says\n%s (%v)", name, got, doc[name], err)
		}
		k.Acked(at, first, count)
		own.Acked(at)

		src, err := hex.DecodeString(doc[name])
		if err != nil {
			t.Fatal(err)
		}
		h, rest, err := ParseHeader(src[1:])
		if err != nil || h != (Header{Tick: at, Owner: true}) || src[0] != 3 {
			t.Fatalf("%s: head %+v, %v", name, h, err)
		}
		row, rest, err := self.Parse(at, rest)
		if err != nil || fmt.Sprint(row) != fmt.Sprint(exampleOwner[i]) {
			t.Errorf("%s: owner row %v, %v; want %v", name, row, err, exampleOwner[i])
		}
		if err := others.Section(at, rest); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var public [PublicFields]int32
		for slot := range 16 {
			id := others.At(at).Row(slot, public[:])
			if slot != exampleID.Index() && id != 0 || slot == exampleID.Index() &&
				(id != exampleID || fmt.Sprint(public) != fmt.Sprint(examplePublic[i])) {
				t.Errorf("%s: slot %d holds %v %v", name, slot, id, public)
			}
		}
	}
}

// TestRangeExample is the first example's public row with the codec range.
func TestRangeExample(t *testing.T) {
	doc := page(t, "golden-range")
	m := Untrained().WithCodec(schema.Range)
	ring, e, k := snapshot.NewRing(Public, 16, 256, 1), snapshot.NewEncoder(m.Public, 16),
		snapshot.NewTracker(16, 3)
	others := snapshot.NewDecoder(m.Public, 16, 3)
	var p snapshot.Packer
	for i, name := range []string{"first", "second", "third"} {
		at, row := tick.Tick(300+3*i), examplePublic[min(i, 1)]
		frame := ring.Begin(at)
		frame.Set(exampleID.Index(), exampleID, row)
		e.Begin(frame, ring)
		k.Advance(at)
		p.Begin(e, k, 0, 1)
		got, first, count, _ := p.Next(nil, 1000)
		if want, err := hex.DecodeString(doc[name]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: wrote %x, the page says %s (%v)", name, got, doc[name], err)
		}
		if err := others.Section(at, got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var public [PublicFields]int32
		if id := others.At(at).Row(exampleID.Index(), public[:]); id != exampleID ||
			fmt.Sprint(public) != fmt.Sprint(row) {
			t.Errorf("%s: %v %v", name, id, public)
		}
		k.Acked(at, first, count)
	}
	if got := fmt.Sprintf("%016x", m.Hash()); got != doc["model hash"] {
		t.Errorf("hash %s, the page says %s", got, doc["model hash"])
	}
}

// TestZstdExample is eight players like those of the first example with the codec zstd.
func TestZstdExample(t *testing.T) {
	doc := page(t, "golden-zstd")
	m := Untrained().WithDictionaries(TrainedDictionaries()).WithCodec(schema.Zstd)
	ring, e, k := snapshot.NewRing(Public, 16, 256, 1), snapshot.NewEncoder(m.Public, 16),
		snapshot.NewTracker(16, 3)
	others := snapshot.NewDecoder(m.Public, 16, 3)
	var p snapshot.Packer
	for i, name := range []string{"first", "second"} {
		at := exampleTicks[i]
		frame := ring.Begin(at)
		for slot := range 8 {
			row := slices.Clone(examplePublic[i])
			row[PlayerStateX] += int32(128 * slot)
			frame.Set(slot, netid.Make(slot, 1), row)
		}
		e.Begin(frame, ring)
		k.Advance(at)
		p.Begin(e, k, 0, 1)
		got, first, count, _ := p.Next(nil, 1000)
		want, err := hex.DecodeString(doc[name])
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: wrote %x, the page says %s (%v)", name, got, doc[name], err)
		}
		if err := others.Section(at, want); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !others.At(at).GroupEqual(frame, 0) {
			t.Errorf("%s: other rows than were sent", name)
		}
		k.Acked(at, first, count)
	}
	if got := fmt.Sprintf("%016x", m.Hash()); got != doc["model hash"] {
		t.Errorf("hash %s, the page says %s", got, doc["model hash"])
	}
}

// TestRowsExample goes on by rows.
func TestRowsExample(t *testing.T) {
	doc := page(t, "golden-rows")
	m := Untrained()
	ring, e, k := snapshot.NewRing(Public, 16, 256, 1), snapshot.NewEncoder(m.Public, 16),
		snapshot.NewTracker(16, 3)
	others := snapshot.NewDecoder(m.Public, 16, 3)
	later := []int32{1026, 0, -256, 1016, -5, 3, 100, 0, 0, 0, 0, 0}
	var p snapshot.Packer
	for _, c := range []struct {
		name string
		at   tick.Tick
		row  []int32
		see  uint64
	}{
		{"", 300, examplePublic[0], 1 << 2},
		{"", 303, examplePublic[1], 1 << 2},
		{"seen", 306, later, 1 << 2},
		{"hidden", 309, later, 0},
		{"again", 312, later, 1 << 2},
	} {
		frame := ring.Begin(c.at)
		frame.Set(exampleID.Index(), exampleID, c.row)
		e.Begin(frame, ring)
		k.Advance(c.at)
		p.BeginRows(e, k, []uint64{c.see})
		got, first, count, _ := p.Next(nil, 1000)
		if want, err := hex.DecodeString(doc[c.name]); c.name != "" &&
			(err != nil || !bytes.Equal(got, want)) {
			t.Errorf("%s: wrote %x, the page says %s (%v)", c.name, got, doc[c.name], err)
		}
		if err := others.Section(c.at, got); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var public [PublicFields]int32
		id := others.At(c.at).Row(exampleID.Index(), public[:])
		if seen := c.see != 0; (id == exampleID) != seen || seen && fmt.Sprint(public) != fmt.Sprint(c.row) {
			t.Errorf("%s: %v %v", c.name, id, public)
		}
		k.Acked(c.at, first, count)
		if c.name == "again" {
			checkedExample(t, doc["again, with the owner's row left out and a checksum"], got,
				p.Sum(sums(frame), first, count), later)
		}
	}
}

func sums(f *snapshot.Frame) *snapshot.Checksums {
	var s snapshot.Checksums
	s.Begin(f)
	return &s
}

// checkedExample holds a section with a checksum to the page, and the checksum to the page's
// arithmetic.
func checkedExample(t *testing.T, doc string, runs []byte, sum uint32, row []int32) {
	t.Helper()
	h := uint64(exampleID)
	for _, v := range row {
		h = (h ^ uint64(uint32(v))) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	if sum != uint32(h) {
		t.Errorf("the checksum is %08x, by the page %08x", sum, uint32(h))
	}
	got := append(Header{Tick: 312, Checked: true, Sum: sum}.Append([]byte{3}), runs...)
	if want, err := hex.DecodeString(doc); err != nil || !bytes.Equal(got, want) {
		t.Errorf("checked: wrote %x, the page says %s (%v)", got, doc, err)
	}
}

// TestSnapshotCodes holds the codes and hashes that PROTOCOL.md quotes to those of the untrained
// models.
func TestSnapshotCodes(t *testing.T) {
	m, doc := Untrained(), page(t, "golden-codes")
	first := func(code uint32, n uint8) (s string) { // the first bit first
		for i := range n {
			s += fmt.Sprint(code >> i & 1)
		}
		return s
	}
	mask := func(table schema.Mask, sym int) string { return first(table.Table.Code(sym)) }
	field := func(c *schema.Coder, v, base int32) string {
		code, n := c.Bits(v, base, 0)
		return first(uint32(code), uint8(n))
	}
	pub, own := m.Public.Coders(), m.Owner.Coders()
	want := map[string]string{
		"player, despawned":               mask(m.Public.Masks()[0], schema.Gone),
		"player, replaced":                mask(m.Public.Masks()[0], schema.Replace),
		"player, update, nothing changed": mask(m.Public.Masks()[0], schema.Update),
		"player, update, x and yaw changed": mask(m.Public.Masks()[0], schema.Update+1<<PlayerStateX+
			1<<PlayerStateYaw),
		"player, x, +13":                  field(&pub[PlayerStateX], 1013, 1000),
		"player, yaw, -4":                 field(&pub[PlayerStateYaw], 1020, 1024),
		"owner, pos.x changed":            mask(m.Owner.Masks()[0], 1<<OwnerStatePosX),
		"owner, pos.x, +307":              field(&own[OwnerStatePosX], 32307, 32000),
		"owner, since and active changed": mask(m.Owner.Masks()[1], 1|1<<6),
		"owner, cool.0 changed":           mask(m.Owner.Masks()[2], 1<<1),
		"owner, rounds.0 changed":         mask(m.Owner.Masks()[3], 1<<2),
		"owner, heat.0 changed":           mask(m.Owner.Masks()[4], 1<<3),
		"owner, since, +3":                field(&own[OwnerStateSince], 43, 40),
		"owner, active, +1":               field(&own[OwnerStateActive], 33, 32),
		"owner, cool.0, +2944":            field(&own[OwnerStateCool0], 2944, 0),
		"owner, rounds.0, -1":             field(&own[OwnerStateRounds0], 6424, 6425),
		"owner, heat.0, +128":             field(&own[OwnerStateHeat0], 128, 0),
		"schema hash":                     fmt.Sprintf("%016x", SchemaHash()),
		"model hash, untrained":           fmt.Sprintf("%016x", m.Hash()),
	}
	for name, code := range want {
		if doc[name] != code {
			t.Errorf("%s: %s, the page says %q", name, code, doc[name])
		}
	}
	if len(doc) != len(want) {
		t.Errorf("the page quotes %d codes, want %d", len(doc), len(want))
	}
}

// TestPageListsEveryField holds the two tables of fields to the schemas.
func TestPageListsEveryField(t *testing.T) {
	text, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		schema.Schema
		m *schema.Model
	}{{Public, Untrained().Public}, {Owner, Untrained().Owner}} {
		for i, f := range s.Fields {
			lo, hi := f.Range()
			row := fmt.Sprintf("| %d | %s | %d | %d | %d |", i, f.Name, s.m.Coders()[i].Width(), lo, hi)
			if !strings.Contains(string(text), row) {
				t.Errorf("%s: the page has no row %q", s.Name, row)
			}
		}
	}
}

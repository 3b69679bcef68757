package schema_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/schema"
)

// single has 14 fields, as a player's own row has: two masks of 7.
func single() schema.Schema {
	s := schema.Schema{Name: "own", Single: true}
	for _, name := range strings.Fields("x y z vx vy vz yaw pitch loco jumps since clip reload score") {
		s.Fields = append(s.Fields, schema.Field{Name: name})
	}
	return s
}

func TestDefaultModelIsPinned(t *testing.T) {
	for i, c := range []struct {
		s    schema.Schema
		want uint64
	}{{player, 0x8bd33c4beada7622}, {single(), 0x4d6e63f41d6f2009}} {
		if got := schema.DefaultModel(c.s).Hash(); got != c.want {
			t.Errorf("case %d: hash %#x, want %#x: both ends make this model themselves", i, got, c.want)
		}
	}
}

func TestMasks(t *testing.T) {
	m := schema.DefaultModel(player).Masks()
	if len(m) != 2 || m[0].Fields != 4 || m[1].Fields != 4 || m[0].Table.Symbols() != schema.Update+16 {
		t.Errorf("entity masks %+v", m)
	}
	m = schema.DefaultModel(single()).Masks()
	if len(m) != 2 || m[0].Fields != 7 || m[1].First != 7 || m[1].Fields != 7 || m[1].Table.Symbols() != 128 {
		t.Errorf("single masks %+v", m)
	}
}

func TestPriorFollowsHints(t *testing.T) {
	table := schema.DefaultModel(player).Masks()[0].Table
	bits := func(sym int) int { _, n := table.Code(sym); return int(n) }
	if rest, move, heal := bits(schema.Update), bits(schema.Update+0b11), bits(schema.Update+0b100); rest > 2 || move > 4 || heal < 6 {
		t.Errorf("bits: rest %d, move %d, health alone %d", rest, move, heal)
	}
}

func TestTrain(t *testing.T) {
	counts := schema.NewCounts(player)
	mask := schema.Update + 0b1001
	counts.Masks[0][mask] = 1000
	bucket, _, _ := huffman.Bucket(20)
	counts.Fields[0][bucket] = 1000
	more := schema.NewCounts(player)
	more.Masks[0][mask] = 500
	counts.Add(more)
	if counts.Masks[0][mask] != 1500 || counts.Fields[0][bucket] != 1000 {
		t.Fatalf("added counts %v", counts)
	}
	m := schema.Train(player, counts)
	if _, n := m.Masks()[0].Table.Code(mask); n != 1 {
		t.Errorf("a mask that always occurs takes %d bits", n)
	}
	x := &m.Coders()[0]
	if _, n := x.Bits(20, 0, 0); n != 1+3 {
		t.Errorf("a difference of 20 takes %d bits, want 1 and 3 extra", n)
	}
	// What never occurred still has a code, and all of them are complete.
	if _, n := x.Bits(1<<18, -1<<18, 0); int(n) > x.MaxBits() {
		t.Errorf("a jump takes %d bits", n)
	}
	if m.Hash() == schema.DefaultModel(player).Hash() {
		t.Error("training does not change the hash")
	}
}

func TestModelFile(t *testing.T) {
	for _, s := range []schema.Schema{player, single()} {
		m := schema.DefaultModel(s)
		file := m.Append([]byte("before"))
		got, err := schema.ParseModel(file[6:], s)
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != m.Hash() || !bytes.Equal(got.Append(nil), file[6:]) || got.MaxRowBits() != m.MaxRowBits() {
			t.Errorf("%s: the model changed in the file", s.Name)
		}
	}
}

// seal corrects the checksum of a forged file.
func seal(body []byte) []byte {
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return append(bytes.Clone(body), byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
}

func TestCorruptModelFile(t *testing.T) {
	m := schema.DefaultModel(player)
	file := m.Append(nil)
	body := file[:len(file)-4]
	tail := body[len(body)-2-4*(3+16+39):] // decisions
	news := len(huffman.AppendLengths(nil, m.Spawns().Mask.Table.Lengths(nil)))
	for i := range m.Spawns().Coders {
		news += 5 + len(huffman.AppendLengths(nil, m.Spawns().Coders[i].Table(0).Lengths(nil)))
	}
	tail = body[len(body)-len(tail)-news:] // and new rows before them
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 0x10
		if _, err := schema.ParseModel(bad, player); !errors.Is(err, schema.ErrModel) {
			t.Fatalf("byte %d flipped: error %v", i, err)
		}
		if _, err := schema.ParseModel(file[:i], player); !errors.Is(err, schema.ErrModel) {
			t.Fatalf("cut to %d bytes: error %v", i, err)
		}
	}
	lengths := func(i int, to []uint8) []byte { // forges table i
		out, rest := bytes.Clone(body[:14]), body[14:] // no signals
		for j := 0; len(rest) > len(tail); j++ {       // without those of new rows
			if j >= 2 { // behind both contexts
				out, rest = append(out, rest[:5]...), rest[5:]
			}
			l, r, err := huffman.ParseLengths(rest)
			if err != nil {
				t.Fatal(err)
			}
			if rest = r; j == i {
				l = to
			}
			out = huffman.AppendLengths(out, l)
		}
		out = append(out, tail...)
		return seal(out)
	}
	// Forges the classes of the last field, which gets a second table.
	words := func(classes byte) []byte {
		last := huffman.AppendLengths(nil, m.Coders()[3].Table(0).Lengths(nil))
		head := body[:len(body)-len(tail)]
		bad := append(append(bytes.Clone(head), last...), tail...)
		bad[len(head)-len(last)-4] = classes
		return seal(bad)
	}
	// Forges the terms of the last field.
	terms := func(terms ...byte) []byte {
		last := huffman.AppendLengths(nil, m.Coders()[3].Table(0).Lengths(nil))
		at := len(body) - len(tail) - len(last) - 5
		return seal(slices.Concat(body[:at], terms, body[at+1:]))
	}
	flat := func(n int, l uint8) []uint8 { return bytes.Repeat([]byte{l}, n) }
	for i, c := range []struct {
		file []byte
		want string
	}{
		{nil, "begin with"},
		{file[:len(file)-1], "checksum"},
		{append(bytes.Clone(file), 0), "checksum"},
		{seal(append(bytes.Clone(body), 0)), "1 bytes behind the last"},
		{seal(body[:14]), "cut short"},
		{seal(body[:13]), "0 context fields"},
		{seal(append(bytes.Clone(body[:12]), 9)), "9 context fields"},
		{seal(append(append(bytes.Clone(body[:12]), 2, 1, 1), body[13:]...)), ""},
		{seal(append(append(bytes.Clone(body[:12]), 1, 4), body[13:]...)), ""},
		{seal(slices.Concat(body[:13], []byte{0}, body[14:])), "0 rows at rest"},
		{seal(slices.Concat(body[:13], []byte{10}, body[14:])), "10 rows at rest"},
		{words(0x0), "new rows"},
		{seal(body[:len(body)-1]), "field 3: cut short"},
		{words(0x3), "cut short"},
		{terms(255), "terms cut short"},
		{terms(1, 3, 0, 1), "want a move of an earlier field or a trend of any"},
		{terms(1, 0x84, 0, 1), "a term of field 4"},
		{terms(4, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1), "4 terms"},
		{words(0x1), "the first to be 0"},
		{lengths(0, flat(16, 4)), "16 symbols, want 18"},
		{lengths(0, flat(18, 15)), "no complete prefix code"},
		{lengths(1, flat(16, 4)), "table 1, of player's rows"},
		{lengths(2, append(flat(12, 0), 1, 1)), "player.x: 14 symbols"},
		{lengths(3, flat(1, 1)), "table 0 of player.yaw"},
		{lengths(5, append(flat(64, 0), 1, 1)), "symbol 0 has 0 bits"},
		{lengths(5, slices.Concat([]uint8{1, 2, 3, 4, 5, 6, 13, 13}, flat(53, 12), flat(5, 11))), "symbol 6 has 13 bits"},
	} {
		_, err := schema.ParseModel(c.file, player)
		if !errors.Is(err, schema.ErrModel) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("case %d: %v, want %q", i, err, c.want)
		}
	}
	if _, err := schema.ParseModel(file, single()); !errors.Is(err, schema.ErrModel) || !strings.Contains(err.Error(), "made for schema") {
		t.Errorf("another schema's model: %v", err)
	}
}

func FuzzParseModel(f *testing.F) {
	file := schema.DefaultModel(player).Append(nil)
	f.Add(file[13 : len(file)-4])
	f.Fuzz(func(t *testing.T, tables []byte) {
		// Behind a good head and checksum, so that the fuzzer reaches the tables.
		forged := seal(append(bytes.Clone(file[:13]), tables...))
		m, err := schema.ParseModel(forged, player)
		if err != nil {
			if !errors.Is(err, schema.ErrModel) {
				t.Fatalf("error %v does not wrap ErrModel", err)
			}
			return
		}
		again, err := schema.ParseModel(m.Append(nil), player)
		if err != nil || again.Hash() != m.Hash() {
			t.Fatalf("an accepted model does not survive its own file: %v", err)
		}
		for i := range m.Coders() {
			if c := &m.Coders()[i]; c.MaxBits() > 44 {
				t.Fatalf("field %d can take %d bits", i, c.MaxBits())
			}
		}
	})
}

// TestWorstGroupFitsADatagram: whatever the ranges and whatever was trained, 16 rows of up to 12
// fields stay below 1100 bytes. The worst model is trained on the rarest: the longest codes where
// the most extra bits are.
func TestWorstGroupFitsADatagram(t *testing.T) {
	s := schema.Schema{Name: "worst", Fields: make([]schema.Field, schema.MaxFields)}
	for i := range s.Fields {
		s.Fields[i].Name = string(rune('a' + i))
	}
	counts := schema.NewCounts(s)
	// Pairs do not count: blocks that get too long are Huffman's.
	for _, table := range append(counts.Masks, counts.Fields...) {
		for sym := range table {
			table[sym] = 1 << max(0, 30-2*sym)
		}
	}
	for i, m := range []*schema.Model{schema.DefaultModel(s), schema.Train(s, counts)} {
		if got := 16 * m.MaxRowBits() / 8; got > 1100 || got < 900 {
			t.Errorf("model %d: %d bytes", i, got)
		}
	}
	if limit := 16 * (huffman.MaxLength + schema.MaxFields*(schema.MaxFieldCode+32)) / 8; limit > 1100 {
		t.Errorf("the limits allow %d bytes", limit)
	}
}

package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

// fileOf returns a recording that ends after a head with the given body. Length and checksum are
// right.
func fileOf(body []byte) []byte {
	file := append([]byte(magic), Version)
	file = append(binary.LittleEndian.AppendUint16(file, uint16(len(body))), body...)
	return binary.LittleEndian.AppendUint32(file, crc32.Checksum(file, castagnoli))
}

// Names of every length come back, and those that are too long come back truncated.
func TestHeadNames(t *testing.T) {
	h := HeadOf(newPlay(t, 2, 1).m, "", 50)
	for _, n := range []int{0, 1, 254, 255, 256, 600} {
		h.ArenaName, h.Mode = strings.Repeat("a", n), strings.Repeat("m", n)
		r, err := NewReader(bytes.NewReader(h.Append(nil)))
		if err != nil {
			t.Fatalf("names of %d bytes: %v", n, err)
		}
		want := h
		want.ArenaName, want.Mode = h.ArenaName[:min(n, 255)], h.Mode[:min(n, 255)]
		if r.Close(); r.Head != want {
			t.Errorf("names of %d bytes became %d and %d", n, len(r.Head.ArenaName), len(r.Head.Mode))
		}
	}
}

// A head that ends anywhere is an error, even if its length and checksum are right.
func TestHeadThatIsCut(t *testing.T) {
	h := HeadOf(newPlay(t, 2, 1).m, strings.Repeat("a", 255), 50)
	h.Mode, h.Schema = strings.Repeat("m", 255), "schema"
	whole := h.Append(nil)
	body := whole[headStart : len(whole)-4]
	for n := range len(body) {
		if _, err := NewReader(bytes.NewReader(fileOf(body[:n]))); !errors.Is(err, ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", n, len(body), err)
		}
	}
	if _, err := NewReader(bytes.NewReader(fileOf(body))); err != nil {
		t.Error(err)
	}
}

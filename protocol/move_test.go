package protocol

import (
	"bytes"
	"testing"
)

// A token of any length of content arrives as it was sent.
func TestMovePartsRestoreTheToken(t *testing.T) {
	for _, n := range []int{0, 1, MaxMovePart - 1, MaxMovePart, MaxMovePart + 1, 1165, MoveTokenSize} {
		token := make([]byte, MoveTokenSize)
		for i := range n {
			token[i] = byte(1 + i%255)
		}
		var got []byte
		parts := MoveParts(token)
		for i, p := range parts {
			whole, err := false, error(nil)
			if got, whole, err = AppendMovePart(got, p); err != nil || whole != (i == len(parts)-1) {
				t.Fatalf("%d bytes: part %d of %d: whole %v, %v", n, i, len(parts), whole, err)
			}
		}
		if !bytes.Equal(got, token) {
			t.Errorf("%d bytes: another token", n)
		}
	}
}

// Messages that no server sends are refused, and keep what has arrived.
func TestMovePartRefuses(t *testing.T) {
	full := make([]byte, MoveTokenSize)
	for name, m := range map[string][]byte{"nothing": {}, "another tag": {0xf5, 1},
		"too much": {MessageMove, 1}, "a long part": make([]byte, 2+MaxMovePart)} {
		had := full
		if name == "a long part" {
			had, m[0] = nil, MessageMove
		}
		if got, whole, err := AppendMovePart(had, m); err == nil || whole || len(got) != len(had) {
			t.Errorf("%s: %d bytes, whole %v, %v", name, len(got), whole, err)
		}
	}
}

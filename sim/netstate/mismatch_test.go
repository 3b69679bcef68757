package netstate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestMismatch(t *testing.T) {
	m := Trained()
	text := m.AppendText(nil)
	if err := m.Match(text); len(text) > 2000 || err != nil {
		t.Errorf("%d bytes, and against our own text: %v", len(text), err)
	}
	edit := func(from, to string) []byte {
		out := bytes.Replace(text, []byte(from), []byte(to), 1)
		if bytes.Equal(out, text) {
			t.Fatalf("%q is not in the text:\n%s", from, text)
		}
		return out
	}
	for i, c := range []struct {
		theirs []byte
		want   string
	}{
		{edit("yaw wrap 4096", "yaw wrap 2048"), "player.yaw: wrap 4096 here, wrap 2048 there"},
		{edit("field asked 0..65535\n", ""), "owner.asked: only here"},
		{edit("field does 0..1073741823\n", "field aim wrap 4\n"), "player.does: only here"},
		{Untrained().AppendText(nil), fmt.Sprintf("model: %016x here, 5dbbe42920a4ecb7 there",
			Trained().Hash())},
		{text[:len(text)/2], "schema: not a text of schemas: line "},
		{nil, "schema: not a text of schemas: "},
	} {
		err := m.Match(c.theirs)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

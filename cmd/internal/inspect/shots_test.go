package inspect

import "testing"

func TestParseID(t *testing.T) {
	for text, want := range map[string]uint32{"": 0, "3.1": 769, "769": 769, "16777215.255": 1<<32 - 1} {
		if got, err := parseID("--shooter", text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

package netid

import "testing"

// An id is read as it is written, and as its number; what is neither is refused.
func TestParse(t *testing.T) {
	for _, id := range []ID{1, 255, 256, Make(0, 1), Make(8, 1), Make(MaxSlots-1, 255)} {
		if got, err := Parse(id.String()); got != id || err != nil {
			t.Errorf("%v: %v, %v", id, got, err)
		}
	}
	if got, err := Parse("2049"); got != Make(8, 1) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range []string{"", "0", "0.0", "x", "-1", "8.", ".1", "8.256", "8.1.1", "8,1", " 8.1",
		"16777216.1", "4294967296", "8.-1", "0x8"} {
		if got, err := Parse(s); err != ErrSyntax {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

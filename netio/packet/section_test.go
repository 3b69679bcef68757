package packet

import "testing"

func TestSectionOf(t *testing.T) {
	if SectionOf(nil) != 0 || SectionOf([]byte{6, 1}) != SectionClose || SectionOf([]byte{200}) != 200 {
		t.Error("the first byte names the section")
	}
}

func TestDropsAreNamed(t *testing.T) {
	names, texts := map[string]Drop{}, map[string]Drop{}
	for d := range NumDrops {
		if other, ok := names[d.String()]; ok || d.String() == "" {
			t.Errorf("drop %d: name %q, as %d", d, d, other)
		}
		if other, ok := texts[d.Error()]; ok || d.Error() == "" {
			t.Errorf("drop %d: text %q, as %d", d, d.Error(), other)
		}
		names[d.String()], texts[d.Error()] = d, d
	}
	if Drop(200).String() != "invalid" || Drop(200).Error() != "invalid drop reason" ||
		Reason(200).String() != "unknown reason" {
		t.Error("a number out of range has no name")
	}
	reasons := map[string]Reason{}
	for r := Reason(0); ; r++ {
		if r.Valid() != (r >= 1 && r <= 16) {
			t.Errorf("reason %d is valid: %v", r, r.Valid())
		}
		if other, ok := reasons[r.String()]; r <= lastReason && (ok || r.String() == "") {
			t.Errorf("reason %d %q, as %d", r, r, other)
		}
		if reasons[r.String()] = r; r == 255 {
			break
		}
	}
}

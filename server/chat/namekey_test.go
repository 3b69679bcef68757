package chat

import "testing"

// Names that a player cannot tell from another's have one key; names that differ have two.
func TestThreat44NameKey(t *testing.T) {
	for _, alike := range [][]string{
		{"Alice", "alice", "ALICE", "АLICE", "Аliсе", "Ａｌｉｃｅ", "A1ice", "AIice", "аlісе"},
		{"O0", "00", "oo", "Оо"},
		{"Bob", "bob", "Воb"},
	} {
		for _, name := range alike[1:] {
			if NameKey(name) != NameKey(alike[0]) {
				t.Errorf("%q has the key %q, %q %q, expected one", name, NameKey(name), alike[0], NameKey(alike[0]))
			}
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"Alice", "Alicia", "Bob", "Bob 2", "Bob 3", "Bob 10", "Zoë", "Zoe", "Иван", "李", ""} {
		key := NameKey(name)
		if other, is := seen[key]; is {
			t.Errorf("%q and %q have one key, %q", name, other, key)
		}
		seen[key] = name
	}
	for name, want := range map[string]bool{"Admin": true, "ѕеrvеr": true, "SERVER": true, "servers": false, "": false} {
		if ReservedKey(NameKey(name)) != want {
			t.Errorf("%q is reserved: %v", name, !want)
		}
	}
}

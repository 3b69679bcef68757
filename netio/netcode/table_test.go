package netcode

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// The table equals a map for any operations, at any fill and with any seed.
func TestTableAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(0, 40).Draw(t, "capacity")
		table := newTable(capacity, [2]uint64{rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "seed")})
		twin := map[tableKey]int{}
		numbered := func(n int) tableKey { return tableKey{uint64(n / 3 % 7), uint64(n % 3), uint16(n / 21)} }
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			n := numbered(rapid.IntRange(0, 90).Draw(t, "name"))
			_, in := twin[n]
			if rapid.IntRange(0, 2).Draw(t, "do") < 2 {
				value := int(rapid.Int32().Draw(t, "value"))
				if want := in || len(twin) < capacity; table.put(n, value) != want {
					t.Fatalf("put %v: want %v", n, want)
				} else if want {
					twin[n] = value
				}
			} else {
				if table.remove(n) != in {
					t.Fatalf("remove %v: want %v", n, in)
				}
				delete(twin, n)
			}
			if table.length != len(twin) {
				t.Fatalf("%d names, want %d", table.length, len(twin))
			}
			for i := range 91 {
				want, in := twin[numbered(i)]
				if got, ok := table.get(numbered(i)); ok != in || ok && got != want {
					t.Fatalf("get %v: %d %v, want %d %v", numbered(i), got, ok, want, in)
				}
			}
		}
	})
}

// A full table that has seen 200,000 joins and leaves searches no farther than a new one.
func TestTableDoesNotDecay(t *testing.T) {
	const players = 1000
	table := newTable(players, [2]uint64{rand.Uint64(), rand.Uint64()})
	for n := range 200_000 {
		if n >= players && !table.remove(addressKey(host(n-players))) {
			t.Fatalf("%v was not found", host(n-players))
		}
		if !table.put(addressKey(host(n)), n) {
			t.Fatalf("%v was not taken", host(n))
		}
	}
	steps := 0
	for i := range table.entries {
		if e := &table.entries[i]; e.tag != 0 {
			steps += (i - table.home(tableKey{e.high, e.low, uint16(e.tag)})) & (len(table.entries) - 1)
		}
	}
	if table.length != players || steps > 3*players/2 {
		t.Fatalf("%d used, %d steps in all", table.length, steps)
	}
}

func TestNames(t *testing.T) {
	a := netip.MustParseAddrPort
	for _, c := range []struct {
		one, two string
		same     bool
	}{
		{"10.0.0.1:5", "[::ffff:10.0.0.1]:5", true},
		{"10.0.0.1:5", "10.0.0.1:6", false},
		{"10.0.0.1:5", "10.0.0.2:5", false},
		{"[fe80::1%a]:5", "[fe80::1%b]:5", true},
		{"[fe80::1]:5", "[fe80:0:1::1]:5", false},
		{"[::10.0.0.1]:5", "10.0.0.1:5", false},
	} {
		if (addressKey(a(c.one)) == addressKey(a(c.two))) != c.same ||
			(canonical(a(c.one)) == canonical(a(c.two))) != c.same {
			t.Errorf("%s and %s: want same %v", c.one, c.two, c.same)
		}
	}
	for _, c := range []struct {
		one, two string
		same     bool
	}{
		{"10.0.0.1:5", "10.0.0.200:9", true},
		{"10.0.0.1:5", "10.0.1.1:5", false},
		{"[2001:db8:1::1]:5", "[2001:db8:1:ffff::2]:9", true},
		{"[2001:db8:1::1]:5", "[2001:db8:2::1]:5", false},
		{"[::ffff:10.0.0.1]:5", "10.0.0.3:5", true},
	} {
		if (addressKey(a(c.one)).network() == addressKey(a(c.two)).network()) != c.same {
			t.Errorf("networks of %s and %s: want same %v", c.one, c.two, c.same)
		}
	}
}

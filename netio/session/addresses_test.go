package session

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// numbered is the n-th address of a small town: IPv4, IPv4 in IPv6 and IPv6, with few hosts and many ports.
func numbered(n int) netip.AddrPort {
	host, port := byte(n/3%7), uint16(n/21)
	switch n % 3 {
	case 0:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, host}), port)
	case 1:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte{10: 255, 11: 255, 12: 10, 15: host}), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 15: host}), port)
}

// plain is the address as the table sees it.
func plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// The table answers as a map does, whatever comes and goes, at any fill and with any seed.
func TestAddressesAgreeWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(0, 40).Draw(t, "capacity")
		table := NewAddresses(capacity, [2]uint64{rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "seed")})
		twin := map[netip.AddrPort]int32{}
		town := rapid.IntRange(1, 90)
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			a := numbered(town.Draw(t, "address"))
			_, in := twin[plain(a)]
			switch rapid.IntRange(0, 2).Draw(t, "do") {
			case 0, 1:
				slot := rapid.Int32().Draw(t, "slot")
				if want := in || len(twin) < capacity; table.Put(a, slot) != want {
					t.Fatalf("put %v: want %v", a, want)
				} else if want {
					twin[plain(a)] = slot
				}
			case 2:
				if table.Delete(a) != in {
					t.Fatalf("delete %v: want %v", a, in)
				}
				delete(twin, plain(a))
			}
			if table.Len() != len(twin) {
				t.Fatalf("%d addresses, want %d", table.Len(), len(twin))
			}
			for n := range 91 {
				want, in := twin[plain(numbered(n))]
				if got, ok := table.Get(numbered(n)); ok != in || got != want {
					t.Fatalf("get %v: %d %v, want %d %v", numbered(n), got, ok, want, in)
				}
			}
		}
	})
}

// A full table that has seen 300,000 joins and leaves searches no farther than a new one.
func TestAddressesDoNotDecay(t *testing.T) {
	const players = 1000
	table := NewAddresses(players, [2]uint64{rand.Uint64(), rand.Uint64()})
	distinct := func(n int) netip.AddrPort { return numbered(n/2*3 + n%2*2) } // without the second names of the first ones
	for n := range 300_000 {
		if n >= players && !table.Delete(distinct(n-players)) {
			t.Fatalf("%v was not found", distinct(n-players))
		}
		if !table.Put(distinct(n), int32(n)) {
			t.Fatalf("%v was not taken", distinct(n))
		}
	}
	steps, worst := 0, 0
	for i := range table.entries {
		if e := &table.entries[i]; e.used {
			d := (i - table.home(e.high, e.low, e.port)) & (len(table.entries) - 1)
			steps, worst = steps+d, max(worst, d)
		}
	}
	if table.Len() != players || steps > 3*players/2 || worst > 64 {
		t.Fatalf("%d used, %d steps in all, at worst %d", table.Len(), steps, worst)
	}
	t.Logf("%d addresses in %d places: %.2f steps on the mean, %d at worst", players, len(table.entries), float64(steps)/players, worst)
}

func TestAddressesInvalid(t *testing.T) {
	table := NewAddresses(4, [2]uint64{1, 2})
	if table.Put(netip.AddrPort{}, 1) || table.Len() != 0 || table.Delete(netip.AddrPort{}) {
		t.Error("an address that is not valid was taken")
	}
	if _, ok := table.Get(netip.AddrPort{}); ok {
		t.Error("an address that is not valid was found")
	}
}

func TestAddressesAllocateNothing(t *testing.T) {
	table := NewAddresses(100, [2]uint64{1, 2})
	n := 0
	if got := testing.AllocsPerRun(1000, func() {
		table.Put(numbered(n), 1)
		table.Get(numbered(n))
		table.Get(numbered(n + 5))
		table.Delete(numbered(n))
		n++
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

var sinkSlot int32

// 5000 players as a server sees them; the map is the rival, a map of packed IPv4 words the one with a cheaper key.
func BenchmarkAddresses(b *testing.B) {
	const players = 5000
	rng := rand.New(rand.NewPCG(1, 2))
	table := NewAddresses(players, [2]uint64{rng.Uint64(), rng.Uint64()})
	byAddr, byWord := map[netip.AddrPort]int32{}, map[uint64]int32{}
	var who [8192]netip.AddrPort
	for i := range who {
		n := rng.Uint32()
		if i >= players {
			who[i] = who[rng.IntN(players)]
			continue
		}
		who[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}), uint16(rng.Uint32()))
		table.Put(who[i], int32(i))
		byAddr[who[i]] = int32(i)
		byWord[word(who[i])] = int32(i)
	}
	b.Run("table", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			sinkSlot, _ = table.Get(who[i&(len(who)-1)])
		}
	})
	b.Run("map[netip.AddrPort]", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			sinkSlot = byAddr[who[i&(len(who)-1)]]
		}
	})
	b.Run("map[uint64]", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			sinkSlot = byWord[word(who[i&(len(who)-1)])]
		}
	})
}

func word(a netip.AddrPort) uint64 {
	ip := a.Addr().As4()
	return uint64(ip[0])<<40 | uint64(ip[1])<<32 | uint64(ip[2])<<24 | uint64(ip[3])<<16 | uint64(a.Port())
}

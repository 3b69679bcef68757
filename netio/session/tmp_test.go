package session
import ("testing";"net/netip")
func BenchmarkTmp(b *testing.B){
	const players=5000
	for _, hot := range []int{64,512,8192} {
	table := NewAddresses(players, [2]uint64{0x9E3779B97F4A7C15,0xD1B54A32D192ED03})
	byAddr, byWord := map[netip.AddrPort]int32{}, map[uint64]int32{}
	var who [8192]netip.AddrPort
	rng := newLink(1).rng
	for i := range who { n := rng.Uint32(); if i>=players {who[i]=who[rng.IntN(players)];continue}
		who[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}), uint16(rng.Uint32()))
		table.Put(who[i], int32(i)); byAddr[who[i]]=int32(i); byWord[word(who[i])]=int32(i) }
	b.Run("load", func(b *testing.B){ for i:=range b.N { sinkSlot = int32(who[i&(hot-1)].Port()) } })
	b.Run("words", func(b *testing.B){ for i:=range b.N { h,l,p := words(who[i&(hot-1)]); sinkSlot = int32(h^l)+int32(p) } })
	b.Run("table", func(b *testing.B){ for i:=range b.N { sinkSlot,_ = table.Get(who[i&(hot-1)]) } })
	b.Run("map", func(b *testing.B){ for i:=range b.N { sinkSlot = byAddr[who[i&(hot-1)]] } })
	b.Run("mapword", func(b *testing.B){ for i:=range b.N { sinkSlot = byWord[word(who[i&(hot-1)])] } })
	}
}

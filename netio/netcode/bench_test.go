package netcode

import (
	"testing"
	"time"
)

var sinkBytes []byte

// benchReceive gives the server datagrams that it opens, rejects or ignores. Each is copied with
// the timer stopped, since opening destroys it.
func benchReceive(b *testing.B, players, size int) {
	const batch = 256
	s := newServer(b, func(c *ServerConfig) { c.Clients = players })
	ps := make([]*pair, players)
	for i := range ps {
		ps[i] = connected(b, s, i)
	}
	payload := make([]byte, size)
	var memory [batch][]byte
	var out Outbox
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		b.StopTimer()
		for i := range memory {
			memory[i] = ps[(n+i)%players].c.sealNext(0, KindPayload, payload, memory[i][:0])
		}
		b.StartTimer()
		for i := range min(batch, b.N-n) {
			e, err := s.Receive(time.Second, testUnix, ps[(n+i)%players].at, memory[i], &out)
			if err != nil || e.Kind != EventPayload {
				b.Fatal(err, e.Kind)
			}
		}
	}
}

// BenchmarkReceive opens and dispatches datagrams, beside the cipher alone.
func BenchmarkReceive(b *testing.B) {
	b.Run("64B/players=1", func(b *testing.B) { benchReceive(b, 1, 64) })
	b.Run("64B/players=1000", func(b *testing.B) { benchReceive(b, 1000, 64) })
	b.Run("64B/aead-alone", func(b *testing.B) { benchOpen(b, 64) })
	b.Run("1200B/players=1", func(b *testing.B) { benchReceive(b, 1, 1200) })
	b.Run("1200B/aead-alone", func(b *testing.B) { benchOpen(b, 1200) })
}

// benchOpen measures the cipher alone.
func benchOpen(b *testing.B, size int) {
	const batch = 256
	s := newSealer(testProtocol)
	aead := packetAEAD(&testKey)
	payload := make([]byte, size)
	var memory [batch][]byte
	nonce, data := s.nonceOf(1), s.associated[:dataSize]
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		b.StopTimer()
		for i := range memory {
			memory[i] = aead.Seal(memory[i][:0], nonce, payload, data)
		}
		b.StartTimer()
		for i := range min(batch, b.N-n) {
			if _, err := aead.Open(memory[i][:0], nonce, memory[i], data); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkSeal seals datagrams, beside the cipher alone.
func BenchmarkSeal(b *testing.B) {
	for _, size := range []int{64, 1200} {
		name := map[int]string{64: "64B", 1200: "1200B"}[size]
		payload, dst := make([]byte, size), make([]byte, 0, 2048)
		b.Run(name+"/server", func(b *testing.B) {
			s := newServer(b, nil)
			connected(b, s, 1)
			b.ReportAllocs()
			for b.Loop() {
				sinkBytes, _ = s.Seal(0, 0, payload, dst)
			}
		})
		b.Run(name+"/aead-alone", func(b *testing.B) {
			s := newSealer(testProtocol)
			aead := packetAEAD(&testKey)
			nonce, data := s.nonceOf(1), s.associated[:dataSize]
			b.ReportAllocs()
			for b.Loop() {
				sinkBytes = aead.Seal(dst, nonce, payload, data)
			}
		})
	}
}

// BenchmarkReject refuses datagrams: a forgery costs its cipher, an unknown address none.
func BenchmarkReject(b *testing.B) {
	s := newServer(b, func(c *ServerConfig) { c.HandshakesPerSecond, c.HandshakesPerNetwork = 1<<24, 1<<24 })
	p := connected(b, s, 1)
	payload := p.seal(KindPayload, make([]byte, 64))
	payload[len(payload)-1] ^= 1
	replayed := p.seal(KindPayload, make([]byte, 64))
	var out Outbox
	s.Receive(p.now, testUnix, p.at, append([]byte(nil), replayed...), &out)
	junk := request(mint(b, 2, nil))
	junk[99] ^= 1
	now := p.now
	give := func(b *testing.B, n int, d []byte, want Drop) {
		b.ReportAllocs()
		for b.Loop() {
			now += time.Microsecond
			if _, err := s.Receive(now, testUnix, host(n), d, &out); err != want {
				b.Fatal(err)
			}
		}
	}
	b.Run("unknown-source", func(b *testing.B) { give(b, 2, payload, DropUnknown) })
	b.Run("replay", func(b *testing.B) { give(b, 1, replayed, DropReplay) })
	b.Run("forged-64B", func(b *testing.B) { give(b, 1, payload, DropAuth) })
	b.Run("forged-token", func(b *testing.B) { give(b, 2, junk, DropReqToken) })
}

// A tick of a full server in which nothing is due.
func BenchmarkUpdate(b *testing.B) {
	s := newServer(b, func(c *ServerConfig) { c.Clients = MaxClients })
	for i := range 100 {
		connected(b, s, i)
	}
	var out Outbox
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		s.Update(10*time.Millisecond, testUnix, &out)
	}
}

// BenchmarkPing answers pings, and refuses those of a flood from one network.
func BenchmarkPing(b *testing.B) {
	for _, c := range []struct {
		name  string
		every time.Duration
	}{{"answered", 10 * time.Millisecond}, {"refused", 0}} {
		b.Run(c.name, func(b *testing.B) {
			s := newServer(b, nil)
			ping, now := appendPing(nil, testProtocol, 7), time.Second
			var out Outbox
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				now += c.every
				out.Reset()
				if _, err := s.Receive(now, testUnix, host(n), ping, &out); err != nil && c.every > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

package netcode

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSession(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 7)
	v, ok := s.Session(p.last.Client)
	if !ok || v.ClientID != 1007 || v.UserData[0] != byte(1007%256) || v.Address != p.at || v.Confirmed ||
		v.Expire != testUnix+45 {
		t.Errorf("session %+v", v)
	}
	if p.c.Index() != uint32(p.last.Client) || p.c.Slots() != 256 || s.Connected() != 1 ||
		s.PendingHandshakes() != 0 {
		t.Errorf("index %d of %d, %d connected", p.c.Index(), p.c.Slots(), s.Connected())
	}
	payload := pattern(make([]byte, MaxPayload), 3, 1)
	var out Outbox
	for _, size := range []int{1, 64, MaxPayload} {
		out.Reset()
		if err := p.c.Send(p.now, payload[:size], &out); err != nil {
			t.Fatal(err)
		}
		p.up(&out)
		if got := p.got[len(p.got)-1]; !bytes.Equal(got, payload[:size]) {
			t.Errorf("server got %d bytes of %d", len(got), size)
		}
		out.Reset()
		if err := s.Send(p.now, 0, payload[:size], &out); err != nil {
			t.Fatal(err)
		}
		p.down(&out)
		if got := p.in[len(p.in)-1]; !bytes.Equal(got, payload[:size]) {
			t.Errorf("client got %d bytes of %d", len(got), size)
		}
	}
	for _, size := range []int{0, MaxPayload + 1} {
		if err := s.Send(p.now, 0, make([]byte, size), &out); err != ErrPayload {
			t.Errorf("server sends %d bytes: %v", size, err)
		}
		if err := p.c.Send(p.now, make([]byte, size), &out); err != ErrPayload {
			t.Errorf("client sends %d bytes: %v", size, err)
		}
	}
	if err := s.Send(p.now, 9, payload, &out); err != ErrNoSession {
		t.Errorf("send to nobody: %v", err)
	}
	p.run(20 * time.Second)
	if p.c.State() != Connected || s.Connected() != 1 {
		t.Errorf("after 20 s: %v", p.c.State())
	}
	if n := s.counters.Sent[KindKeepAlive]; n < 195 || n > 205 {
		t.Errorf("%d keep-alives from the server in 20 s", n)
	}
	if n := p.c.counters.Sent[KindKeepAlive]; n < 195 || n > 205 {
		t.Errorf("%d keep-alives from the client in 20 s", n)
	}
	out.Reset()
	p.c.Disconnect(p.now, &out)
	if out.Len() != disconnectRepeats {
		t.Errorf("%d disconnects", out.Len())
	}
	p.up(&out)
	if p.last.Kind != EventDisconnect || s.Connected() != 0 || p.c.State() != Disconnected {
		t.Errorf("event %v, %d connected, %v", p.last.Kind, s.Connected(), p.c.State())
	}
}

func TestServerDisconnects(t *testing.T) {
	s := newServer(t, nil)
	p, q := connected(t, s, 1), connected(t, s, 2)
	var out Outbox
	if err := s.Disconnect(p.now, int(p.c.Index()), &out); err != nil || out.Len() != disconnectRepeats {
		t.Errorf("%v, %d disconnects", err, out.Len())
	}
	p.down(&out)
	if p.c.State() != Disconnected || s.Disconnect(p.now, int(p.c.Index()), &out) != ErrNoSession {
		t.Errorf("client: %v", p.c.State())
	}
	out.Reset()
	s.Close(q.now, &out)
	q.down(&out)
	if q.c.State() != Disconnected || s.Connected() != 0 {
		t.Errorf("client: %v", q.c.State())
	}
	r := &pair{t: t, s: s, c: NewClient(mint(t, 3, nil), ClientConfig{}), at: host(3)}
	if r.run(time.Second); r.c.State() != ConnectionDenied || s.counters.Drops[DropClosing] != 1 {
		t.Errorf("after the close: %v", r.c.State())
	}
}

// Until the client is heard, a keep-alive goes before each payload; afterwards none does.
func TestKeepAliveBeforePayloadUntilConfirmed(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	var out Outbox
	for i, want := range []int{2, 2, 1} {
		out.Reset()
		if i == 2 {
			var hi Outbox
			p.c.Send(p.now, []byte("hi"), &hi)
			p.up(&hi)
		}
		if s.Send(p.now, 0, []byte("snapshot"), &out); out.Len() != want {
			t.Errorf("payload %d: %d datagrams, want %d", i, out.Len(), want)
		}
		if _, d := out.At(0); want == 2 && KindOf(d) != KindKeepAlive {
			t.Errorf("payload %d: a %v before it", i, KindOf(d))
		}
	}
}

func TestServerTimesOut(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	start, out := p.now, Outbox{}
	var ended time.Duration
	for now := start; now < start+8*time.Second && ended == 0; now += 10 * time.Millisecond {
		for _, e := range s.Update(now, testUnix, &out) {
			if e.Kind == EventTimeout && e.Client == 0 {
				ended = now - start
			}
		}
	}
	if ended < 4900*time.Millisecond || ended > 5010*time.Millisecond || s.Connected() != 0 {
		t.Errorf("ended after %v", ended)
	}
	if to, d := out.At(out.Len() - 1); KindOf(d) != KindKeepAlive || to != p.at {
		t.Errorf("the last datagram is a %v", KindOf(d))
	}
}

func TestNegativeTimeoutNeverEnds(t *testing.T) {
	s := newServer(t, nil)
	p := &pair{t: t, s: s, c: NewClient(mint(t, 1, func(m *Mint) { m.TimeoutSeconds = -1 }),
		ClientConfig{}), at: host(1)}
	p.step(time.Millisecond)
	var out Outbox
	if ev := s.Update(1000*time.Hour, testUnix, &out); len(ev) != 0 || s.Connected() != 1 {
		t.Errorf("events %v", ev)
	}
	if p.c.Update(1000*time.Hour, &out); p.c.State() != Connected {
		t.Errorf("client: %v", p.c.State())
	}
}

// request returns the first datagram of a client with this token.
func request(token []byte) []byte {
	var out Outbox
	c := NewClient(token, ClientConfig{})
	c.Update(0, &out)
	_, b := out.At(0)
	return b
}

// sealedToken returns a request with a token that opens to these 1008 bytes.
func sealedToken(protocol, expire uint64, plaintext []byte) []byte {
	b := append([]byte{0}, version...)
	b = binary.LittleEndian.AppendUint64(b, protocol)
	b = binary.LittleEndian.AppendUint64(b, expire)
	nonce := pattern(make([]byte, nonceSize), 3, int(expire))
	b = append(b, nonce...)
	return privateAEAD(&testKey).Seal(b, nonce, plaintext, privateData(nil, protocol, expire))
}

// Every refusal of a request: its counter, silence, and an unharmed player beside it.
func TestThreat01Sizes(t *testing.T) { requestsRefused(t, DropSize, DropReqSize) }
func TestThreat02Requests(t *testing.T) {
	requestsRefused(t, DropReqSize, DropReqVersion, DropReqProtocol)
}
func TestThreat03Expired(t *testing.T)     { requestsRefused(t, DropReqExpired) }
func TestThreat04Forged(t *testing.T)      { requestsRefused(t, DropReqToken, DropReqContent) }
func TestThreat05OtherServer(t *testing.T) { requestsRefused(t, DropReqAddress) }
func TestRequestsRefused(t *testing.T)     { requestsRefused(t, DropType, DropReqClient) }

func requestsRefused(t *testing.T, reasons ...Drop) {
	const expire = testUnix + 45
	good := func() []byte { return request(mint(t, 1, nil)) }
	altered := func(at int, by byte) []byte { b := good(); b[at] ^= by; return b }
	plaintext := func(change func(b []byte)) []byte {
		p := PrivateToken{ClientID: 1, TimeoutSeconds: 5, NumServers: 1}
		p.Servers[0] = testServer
		b := p.Append(nil)
		change(b)
		return sealedToken(testProtocol, expire, b)
	}
	for _, c := range []struct {
		name     string
		datagram []byte
		want     Drop
	}{
		{"empty", nil, DropSize},
		{"1301 bytes", make([]byte, 1301), DropSize},
		{"1500 bytes", make([]byte, 1500), DropSize},
		{"65507 bytes", make([]byte, 65507), DropSize},
		{"one zero byte", []byte{0}, DropReqSize},
		{"18 zero bytes", make([]byte, 18), DropReqSize},
		{"1077 bytes", good()[:1077], DropReqSize},
		{"1079 bytes", append(good(), 0), DropReqSize},
		{"1300 bytes", make([]byte, 1300), DropReqSize},
		{"type 0 with a sequence", altered(0, 0x10), DropType},
		{"version 1.01", altered(12, 3), DropReqVersion},
		{"another protocol", altered(14, 1), DropReqProtocol},
		{"expired", request(mint(t, 1, func(m *Mint) { m.Create, m.Expire = testUnix-60, testUnix-15 })),
			DropReqExpired},
		{"expires now", request(mint(t, 1, func(m *Mint) { m.Create, m.Expire = testUnix-45, testUnix })),
			DropReqExpired},
		{"expire time altered", altered(22, 1), DropReqToken},
		{"nonce altered", altered(30, 1), DropReqToken},
		{"token altered", altered(54, 0x80), DropReqToken},
		{"tag altered", altered(1077, 1), DropReqToken},
		{"tag zero", append(good()[:1062], make([]byte, 16)...), DropReqToken},
		{"no addresses", plaintext(func(b []byte) { b[12] = 0 }), DropReqContent},
		{"33 addresses", plaintext(func(b []byte) { b[12] = 33 }), DropReqContent},
		{"2^32-1 addresses", plaintext(func(b []byte) {
			binary.LittleEndian.PutUint32(b[12:], math.MaxUint32)
		}), DropReqContent},
		{"address type 0", plaintext(func(b []byte) { b[16] = 0 }), DropReqContent},
		{"address type 3", plaintext(func(b []byte) { b[16] = 3 }), DropReqContent},
		{"address list runs into keys", plaintext(func(b []byte) { b[12] = 2 }), DropReqContent},
		{"another server", request(mint(t, 1,
			func(m *Mint) { m.Servers = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:40001")} })),
			DropReqAddress},
		{"client is connected", request(mint(t, 1009, nil)), DropReqClient},
	} {
		if !slices.Contains(reasons, c.want) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, nil)
			p := connected(t, s, 9)
			p.t = t
			p.refuse(host(1), c.datagram, c.want)
		})
	}
}

func TestRequestExpiryEdges(t *testing.T) {
	for _, c := range []struct {
		name           string
		create, expire uint64
		want           error
	}{
		{"a second left", testUnix - 44, testUnix + 1, nil},
		{"never", testUnix, math.MaxUint64, nil},
		{"none left", testUnix - 45, testUnix, DropReqExpired},
	} {
		s, out := newServer(t, nil), Outbox{}
		token := mint(t, 1, func(m *Mint) { m.Create, m.Expire = c.create, c.expire })
		if _, err := s.Receive(0, testUnix, host(1), request(token), &out); err != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Every refusal of a sealed datagram, from an unknown address and from a player's own address.
func TestThreat13Replay(t *testing.T)  { sealedRefused(t, DropReplay, DropTooOld) }
func TestThreat14Forged(t *testing.T)  { sealedRefused(t, DropAuth) }
func TestThreat16Unknown(t *testing.T) { sealedRefused(t, DropUnknown) }
func TestSealedRefused(t *testing.T) {
	sealedRefused(t, DropSize, DropType, DropSequence, DropBody, DropRespConnected)
}

func sealedRefused(t *testing.T, reasons ...Drop) {
	s := newServer(t, nil)
	p, q := connected(t, s, 9), connected(t, s, 8)
	p.run(300 * time.Millisecond)
	payload := func() []byte { return p.seal(KindPayload, []byte("payload")) }
	reseal := func(kind Kind, sequence uint64, body []byte) []byte {
		return p.s.sealer.seal(p.c.seal, nil, kind, sequence, body)
	}
	altered := func(at int, by byte) []byte { b := payload(); b[at] ^= by; return b }
	mine, own, theirs := p.seal(KindPayload, []byte("x")), p.at, host(500)
	var late []byte
	var out Outbox
	for i := range 1030 {
		if d := p.seal(KindPayload, []byte("x")); i == 0 {
			late = d
		} else if _, err := s.Receive(p.now, testUnix, own, d, &out); err != nil {
			t.Fatal(err)
		}
	}
	again := payload()
	if _, err := s.Receive(p.now, testUnix, own, bytes.Clone(again), &out); err != nil {
		t.Fatal(err)
	}
	s2c, _ := s.Seal(p.now, int(p.c.Index()), []byte("down"), nil)
	for _, c := range []struct {
		name     string
		from     netip.AddrPort
		datagram []byte
		want     Drop
	}{
		{"1 byte", own, []byte{0x15}, DropSize},
		{"17 bytes", own, payload()[:17], DropSize},
		{"a sequence that leaves no tag", own, append([]byte{0x85}, make([]byte, 20)...), DropSize},
		{"denied", own, reseal(KindDenied, p.c.sequence, nil), DropType},
		{"challenge", own, reseal(KindChallenge, p.c.sequence, make([]byte, bodySize)), DropType},
		{"type 8", own, altered(0, 5^8), DropType},
		{"type 15", own, altered(0, 5^15), DropType},
		{"sequence of no bytes", own, append([]byte{0x05}, make([]byte, 30)...), DropSequence},
		{"sequence of 9 bytes", own, append([]byte{0x95}, make([]byte, 30)...), DropSequence},
		{"sequence of 15 bytes", own, append([]byte{0xf5}, make([]byte, 40)...), DropSequence},
		{"unknown address", theirs, payload(), DropUnknown},
		{"response from an unknown address", theirs, reseal(KindResponse, 1, make([]byte, bodySize)),
			DropUnknown},
		{"another player's address", q.at, reseal(KindPayload, q.c.sequence+50, []byte("x")), DropAuth},
		{"response again", own, reseal(KindResponse, p.c.sequence, make([]byte, bodySize)),
			DropRespConnected},
		{"received before", own, again, DropReplay},
		{"behind the window", own, late, DropTooOld},
		{"far behind the window", own, mine, DropTooOld},
		{"body altered", own, altered(5, 1), DropAuth},
		{"tag altered", own, func() []byte { b := payload(); b[len(b)-1] ^= 1; return b }(), DropAuth},
		{"type altered", own, altered(0, 5^6), DropAuth},
		{"sequence altered", own, altered(1, 0x40), DropAuth},
		{"random tail", own, append(payload(), 1, 2, 3), DropAuth},
		{"cut", own, func() []byte { b := payload(); return b[:len(b)-1] }(), DropAuth},
		{"the server's own datagram", own, s2c, DropTooOld},
		{"empty payload", own, p.seal(KindPayload, nil), DropBody},
		{"payload of 1201", own, p.seal(KindPayload, make([]byte, 1201)), DropBody},
		{"keep-alive of 0", own, p.seal(KindKeepAlive, nil), DropBody},
		{"keep-alive of 7", own, p.seal(KindKeepAlive, make([]byte, 7)), DropBody},
		{"keep-alive of 9", own, p.seal(KindKeepAlive, make([]byte, 9)), DropBody},
		{"disconnect of 1", own, p.seal(KindDisconnect, make([]byte, 1)), DropBody},
		{"path without session id", own, reseal(KindPath, p.c.sequence, nil), DropSize},
	} {
		if !slices.Contains(reasons, c.want) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p.t = t
			p.refuse(c.from, c.datagram, c.want)
		})
	}
}

// A server's datagram that is sent back to it under a new sequence does not open: each direction
// has its key.
func TestThreat14Reflected(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	var d []byte
	for range 50 {
		d, _ = s.Seal(p.now, 0, []byte("down"), nil)
	}
	p.refuse(p.at, d, DropAuth)
}

func TestLongSequencesAreTaken(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	b := []byte{0x80 | byte(KindPayload)}
	b = binary.LittleEndian.AppendUint64(b, 900)
	s.sealer.associated[dataSize-1] = b[0]
	b = p.c.seal.Seal(b, s.sealer.nonceOf(900), []byte("long"), s.sealer.associated[:dataSize])
	if e, err := s.Receive(p.now, testUnix, p.at, b, &Outbox{}); err != nil || string(e.Payload) != "long" {
		t.Errorf("%v, %q", err, e.Payload)
	}
}

// Sequences near 2^64 do not block the window.
func TestThreat13SequencesNearTheEnd(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	for _, sequence := range []uint64{1 << 63, math.MaxUint64 - 257, math.MaxUint64 - 255,
		math.MaxUint64 - 256, math.MaxUint64 - 1, math.MaxUint64} {
		d := s.sealer.seal(p.c.seal, nil, KindPayload, sequence, []byte("x"))
		for _, want := range []error{nil, DropReplay, DropReplay} {
			if _, err := s.Receive(p.now, testUnix, p.at, bytes.Clone(d), &Outbox{}); err != want {
				t.Errorf("sequence %d: %v, want %v", sequence, err, want)
			}
		}
	}
}

func TestThreat15SessionEndsBeforeItsSequences(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 1)
	s.slots[0].sequence = sequenceLimit - disconnectRepeats - 1
	var out Outbox
	if ev := s.Update(p.now+time.Second, testUnix, &out); len(ev) != 1 || ev[0].Kind != EventExhausted ||
		out.Len() != disconnectRepeats {
		t.Errorf("%v, %d datagrams", ev, out.Len())
	}
	p.c.sequence = sequenceLimit
	if _, err := p.c.Seal(p.now, []byte("x"), nil); err != ErrExhausted {
		t.Errorf("client: %v", err)
	}
	if p.c.Update(p.now, &out); p.c.State() != Disconnected {
		t.Errorf("client: %v", p.c.State())
	}
}

func TestThreat11Full(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.Clients = 2 })
	connected(t, s, 1)
	connected(t, s, 2)
	p := &pair{t: t, s: s, c: NewClient(mint(t, 3, nil), ClientConfig{}), at: host(3)}
	var out Outbox
	p.c.Update(0, &out)
	_, d := out.At(0)
	var back Outbox
	_, err := s.Receive(0, testUnix, p.at, bytes.Clone(d), &back)
	if _, b := back.At(0); err != DropFull || back.Len() != 1 || len(b) != 25 {
		t.Errorf("%v, %d answers, the first of %d bytes", err, back.Len(), len(b))
	}
	if p.down(&back); p.c.State() != ConnectionDenied || !errors.Is(p.c.Err(), StateError(ConnectionDenied)) {
		t.Errorf("client: %v", p.c.State())
	}
}

// Two clients are challenged while one slot is free: the second response is denied.
func TestThreat11FullAtResponse(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.Clients = 1 })
	var ps [2]*pair
	var ups [2]Outbox
	for i := range ps {
		ps[i] = &pair{t: t, s: s, c: NewClient(mint(t, uint64(i), nil), ClientConfig{}), at: host(i)}
		var out, back Outbox
		ps[i].c.Update(0, &out)
		_, d := out.At(0)
		if _, err := s.Receive(0, testUnix, ps[i].at, d, &back); err != nil {
			t.Fatal(err)
		}
		_, d = back.At(0)
		ps[i].c.Receive(0, testServer, d, &ups[i])
	}
	ps[0].up(&ups[0])
	ps[1].up(&ups[1])
	if ps[0].c.State() != Connected || ps[1].c.State() != ConnectionDenied ||
		s.counters.Drops[DropFull] != 1 {
		t.Errorf("%v, %v", ps[0].c.State(), ps[1].c.State())
	}
}

func TestThreat38Keys(t *testing.T) {
	text := "606abe6ec91910ea9a6562f66f2b30e44371d62cd19927266b3c60f4b715aba1"
	k, err := ParseKey(text)
	if err != nil || !k.IsTestKey() || !new(Key).IsTestKey() || testKey.IsTestKey() {
		t.Errorf("%v, public %v", err, k.IsTestKey())
	}
	for _, bad := range []string{"", "60", text + "00", text[:63] + "g", text[:63]} {
		if _, err := ParseKey(bad); err != ErrKey {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := NewServer(ServerConfig{PrivateKey: k, Entropy: [32]byte{1},
		Addresses: []netip.AddrPort{testServer}}); err != errPublicKey {
		t.Errorf("server with the well-known key: %v", err)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	text := fmt.Sprintf("%v %s %#v %+v %v", testKey, testKey, testKey, &ServerConfig{PrivateKey: testKey},
		&PublicToken{ClientToServer: testKey})
	for _, bad := range []string{fmt.Sprint(testKey[3]) + " " + fmt.Sprint(testKey[4]),
		hex.EncodeToString(testKey[:4]), "0x24"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q shows the key", text)
		}
	}
}

// In a batch, sessions are served before handshakes.
func TestHandshakesWait(t *testing.T) {
	for k := range Kind(16) {
		if got, want := IsHandshake([]byte{0x10 | byte(k)}), k < KindKeepAlive || k >= KindPath; got != want {
			t.Errorf("%v: %v", k, got)
		}
	}
	if !IsHandshake(nil) {
		t.Error("nothing is urgent")
	}
}

func TestServerConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*ServerConfig)
	}{
		{"no entropy", func(c *ServerConfig) { c.Entropy = [32]byte{} }},
		{"no address", func(c *ServerConfig) { c.Addresses = nil }},
		{"an invalid address", func(c *ServerConfig) { c.Addresses = []netip.AddrPort{{}} }},
		{"too many clients", func(c *ServerConfig) { c.Clients = MaxClients + 1 }},
		{"less than none", func(c *ServerConfig) { c.Clients = -1 }},
		{"no budget", func(c *ServerConfig) { c.HandshakesPerSecond = -1 }},
		{"half a second", func(c *ServerConfig) { c.TokenLifetime = time.Second / 2 }},
		{"used tokens are taken after a restart", func(c *ServerConfig) { c.AllowTokenReuse = false }},
		{"a lifetime without the time of the start", func(c *ServerConfig) { c.TokenLifetime = time.Minute }},
		{"a key of zeros", func(c *ServerConfig) { c.PrivateKey = Key{} }},
	} {
		good := ServerConfig{PrivateKey: testKey, Entropy: [32]byte{1},
			Addresses: []netip.AddrPort{testServer}, AllowTokenReuse: true}
		if _, err := NewServer(good); err != nil {
			t.Fatal(err)
		}
		c.change(&good)
		if _, err := NewServer(good); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

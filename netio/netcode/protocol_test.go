package netcode

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// What PROTOCOL.md says about its golden datagrams, in the words of this file.
const (
	pageProtocol = 0x7469636b72617402
	pageCreate   = 1_800_000_000
	pageExpire   = 1_800_000_045
	pageClient   = 0x0102030405060708
	pagePath     = 0xa1a2a3a4a5a6a7a8
	pageGlobal   = 1<<63 + 9
)

// run returns n bytes that count up from first.
func run(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func runKey(first byte) (k Key) { copy(k[:], run(first, KeySize)); return k }

// page reads the golden datagrams of PROTOCOL.md, and the packets and sections that they hold. A
// name stands at the margin, its bytes below it, indented: hexadecimal, or in brackets the name
// of other bytes or up to where zeros follow.
func page(t *testing.T) map[string][]byte {
	text, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, fence := range []string{"golden-packets", "golden-sections", "golden"} {
		_, block, _ := strings.Cut(string(text), "```"+fence+"\n")
		block, _, found := strings.Cut(block, "```")
		if !found {
			t.Fatalf("PROTOCOL.md has no block %s", fence)
		}
		name := ""
		for line := range strings.Lines(block) {
			if line[0] != ' ' {
				name = strings.TrimSpace(line)
				continue
			}
			all[name] = pageLine(t, all, all[name], strings.TrimSpace(line))
		}
	}
	return all
}

func pageLine(t *testing.T, all map[string][]byte, dst []byte, line string) []byte {
	inner, bracket := strings.CutPrefix(strings.TrimSuffix(line, ")"), "(")
	if size := 0; bracket {
		if n, _ := fmt.Sscanf(inner, "zeros to %d", &size); n == 1 {
			return append(dst, make([]byte, size-len(dst))...)
		}
		if len(all[inner]) == 0 {
			t.Fatalf("PROTOCOL.md has nothing called %q", inner)
		}
		return append(dst, all[inner]...)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return append(dst, b...)
}

// number reads size bytes at an offset.
func number(b []byte, at, size int) (n uint64) {
	for i := range size {
		n |= uint64(b[at+i]) << (8 * i)
	}
	return n
}

// cutter opens datagrams with nothing but the drawings of the page and the cipher itself.
type cutter struct {
	t   *testing.T
	doc map[string][]byte
}

// aead returns the cipher of datagrams and challenges.
func (c cutter) aead(key []byte) cipher.AEAD {
	a, err := chacha20poly1305.New(key)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// tokenAEAD returns the cipher of private tokens, with a nonce of 24 bytes.
func (c cutter) tokenAEAD(key []byte) cipher.AEAD {
	a, err := chacha20poly1305.NewX(key)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// open returns the sequence and body of a sealed datagram, and seals them again to the same
// bytes. A path datagram has its session id open.
func (c cutter) open(name string, key []byte, kind byte) (sequence uint64, body []byte) {
	c.t.Helper()
	d := c.doc[name]
	if len(d) < 18 || d[0]&15 != kind {
		c.t.Fatalf("%s: %x is not of kind %d", name, d, kind)
	}
	n := int(d[0] >> 4)
	sequence = number(d, 1, n)
	if n < 1 || n > 8 || n > 1 && d[n] == 0 {
		c.t.Fatalf("%s: a sequence of %d bytes", name, n)
	}
	nonce := binary.LittleEndian.AppendUint64(make([]byte, 4), sequence)
	data := append([]byte("NETCODE 1.02\x00"), 0x02, 0x74, 0x61, 0x72, 0x6b, 0x63, 0x69, 0x74, d[0])
	at := 1 + n
	if kind == 7 {
		data = append(data, d[at:at+8]...)
		at += 8
	}
	body, err := c.aead(key).Open(nil, nonce, d[at:], data)
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	if again := c.aead(key).Seal(bytes.Clone(d[:at]), nonce, body, data); !bytes.Equal(again, d) {
		c.t.Fatalf("%s: sealed again %x", name, again)
	}
	return sequence, body
}

// same fails when the page has other bytes under a name, and says which there should be.
func (c cutter) same(name string, got []byte) {
	c.t.Helper()
	if want := c.doc[name]; !bytes.Equal(got, want) {
		var lines strings.Builder
		for b := got; len(b) > 0; b = b[min(64, len(b)):] {
			fmt.Fprintf(&lines, "  %x\n", b[:min(64, len(b))])
		}
		c.t.Errorf("%s has %d bytes, the page has %d others:\n%s", name, len(got), len(want), &lines)
	}
}

// TestPageByHand reads the golden datagrams by the offsets of the page.
func TestPageByHand(t *testing.T) {
	c := cutter{t, page(t)}
	token, request := c.doc["token"], c.doc["request"]
	data := append(append([]byte("NETCODE 1.02\x00"), token[13:21]...), token[29:37]...)
	private, err := c.tokenAEAD(run(0x00, 32)).Open(nil, token[37:61], token[61:1085], data)
	if err != nil || len(private) != 1008 {
		t.Fatalf("private token: %d bytes, %v", len(private), err)
	}
	c.same("private token", c.tokenAEAD(run(0x00, 32)).Seal(nil, token[37:61], private, data))
	sealed, challenge := c.open("challenge", run(0x40, 32), 2)
	answered, response := c.open("response", run(0x20, 32), 3)
	if !bytes.Equal(challenge, response) || sealed != 0x8000000000000009 || answered != 1 ||
		len(challenge) != 308 {
		t.Errorf("challenge %x and response %x: not the same", sealed, answered)
	}
	inner, err := c.aead(run(0x80, 32)).Open(nil, append(make([]byte, 4), challenge[:8]...),
		challenge[8:], nil)
	if err != nil || len(inner) != 284 {
		t.Fatalf("challenge token: %d bytes, %v", len(inner), err)
	}
	alive, keepAlive := c.open("keep-alive", run(0x40, 32), 4)
	carried, payload := c.open("payload", run(0x40, 32), 5)
	hi, hello := c.open("path hello", run(0x20, 32), 7)
	given, grant := c.open("path grant", run(0x40, 32), 7)
	probed, probe := c.open("path probe", run(0x20, 32), 7)
	asked, prove := c.open("path challenge", run(0x40, 32), 7)
	echoed, echo := c.open("path echo", run(0x20, 32), 7)
	left, disconnect := c.open("disconnect", run(0x20, 32), 6)
	denial, denied := c.open("denied", run(0x40, 32), 1)
	for i, f := range []struct {
		name      string
		got, want uint64
	}{
		0:  {"token: protocol id", number(token, 13, 8), 0x7469636b72617402},
		1:  {"token: create", number(token, 21, 8), 1_800_000_000},
		2:  {"token: expire", number(token, 29, 8), 1_800_000_045},
		3:  {"token: timeout", number(token, 1085, 4), 10},
		4:  {"token: addresses", number(token, 1089, 4), 2},
		5:  {"token: first is IPv4", number(token, 1093, 1), 1},
		6:  {"token: 203.0.113.5", number(token, 1094, 4), 203 | 113<<16 | 5<<24},
		7:  {"token: port", number(token, 1098, 2), 7913},
		8:  {"token: second is IPv6", number(token, 1100, 1), 2},
		9:  {"token: 2001:0db8", number(token, 1101, 4), 0x0db8_2001},
		10: {"token: ::0005", number(token, 1115, 2), 5},
		11: {"token: port", number(token, 1117, 2), 7913},
		12: {"private: client id", number(private, 0, 8), 0x0102030405060708},
		13: {"private: timeout", number(private, 8, 4), 10},
		14: {"private: addresses", number(private, 12, 4), 2},
		15: {"private: port of the second", number(private, 40, 2), 7913},
		16: {"private: user data", number(private, 16+26+64, 4), 'A' | 'd'<<8 | 'a'<<16},
		17: {"request: prefix", number(request, 0, 1), 0},
		18: {"request: protocol id", number(request, 14, 8), 0x7469636b72617402},
		19: {"request: expire", number(request, 22, 8), 1_800_000_045},
		20: {"challenge: sequence", number(challenge, 0, 8), 7},
		21: {"challenge: client id", number(inner, 0, 8), 0x0102030405060708},
		22: {"challenge: user data", number(inner, 8, 4), 'A' | 'd'<<8 | 'a'<<16},
		23: {"keep-alive: sequence", alive, 0},
		24: {"keep-alive: index", number(keepAlive, 0, 4), 2},
		25: {"keep-alive: slots", number(keepAlive, 4, 4), 64},
		26: {"payload: sequence", carried, 1},
		27: {"hello: sequence", hi, 2},
		28: {"hello: session id", number(c.doc["path hello"], 2, 8), 0},
		29: {"hello: op", number(hello, 0, 1), 0},
		30: {"grant: sequence", given, 2},
		31: {"grant: session id", number(c.doc["path grant"], 2, 8), 0},
		32: {"grant: op", number(grant, 0, 1), 1},
		33: {"grant: your session id", number(grant, 1, 8), 0xa1a2a3a4a5a6a7a8},
		34: {"probe: sequence", probed, 3},
		35: {"probe: session id", number(c.doc["path probe"], 2, 8), 0xa1a2a3a4a5a6a7a8},
		36: {"probe: op", number(probe, 0, 1), 2},
		37: {"path challenge: sequence", asked, 3},
		38: {"path challenge: session id", number(c.doc["path challenge"], 2, 8), 0xa1a2a3a4a5a6a7a8},
		39: {"path challenge: op", number(prove, 0, 1), 3},
		40: {"echo: sequence", echoed, 4},
		41: {"echo: op", number(echo, 0, 1), 4},
		42: {"disconnect: sequence", left, 5},
		43: {"denied: sequence", denial, 0x800000000000000a},
		44: {"ping: kind", number(c.doc["ping"], 0, 1), 8},
		45: {"ping: protocol id", number(c.doc["ping"], 1, 8), 0x7469636b72617402},
		46: {"ping: tag", number(c.doc["ping"], 9, 8), 0x1122334455667788},
		47: {"pong: kind", number(c.doc["pong"], 0, 1), 9},
		48: {"pong: tag", number(c.doc["pong"], 1, 8), 0x1122334455667788},
	} {
		if f.got != f.want {
			t.Errorf("%d %s: %x, want %x", i, f.name, f.got, f.want)
		}
	}
	for i, f := range []struct {
		name      string
		got, want []byte
	}{
		0:  {"token: version", token[:13], []byte("NETCODE 1.02\x00")},
		1:  {"token: nonce", token[37:61], run(0x60, 24)},
		2:  {"token: client's key", token[1119:1151], run(0x20, 32)},
		3:  {"token: server's key", token[1151:1183], run(0x40, 32)},
		4:  {"token: zeros", token[1183:], make([]byte, 865)},
		5:  {"private: addresses", private[12:42], token[1089:1119]},
		6:  {"private: client's key", private[42:74], run(0x20, 32)},
		7:  {"private: server's key", private[74:106], run(0x40, 32)},
		8:  {"private: zeros", private[109:], make([]byte, 899)},
		9:  {"request: version", request[1:14], []byte("NETCODE 1.02\x00")},
		10: {"request: nonce", request[30:54], run(0x60, 24)},
		11: {"request: private token", request[54:1078], token[61:1085]},
		12: {"challenge: zeros", inner[11:], make([]byte, 273)},
		13: {"payload: packet", payload, c.doc["packet"]},
		14: {"probe: zeros", probe[1:], make([]byte, len(probe)-1)},
		15: {"path challenge: proof", prove[1:], run(0xb0, 16)},
		16: {"echo: proof", echo[1:], run(0xb0, 16)},
		17: {"disconnect: body", disconnect, []byte{}},
		18: {"denied: body", denied, []byte{}},
	} {
		if !bytes.Equal(f.got, f.want) {
			t.Errorf("%d %s: %x, want %x", i, f.name, f.got, f.want)
		}
	}
	for name, size := range map[string]int{"token": 2048, "private token": 1024, "request": 1078,
		"challenge": 333, "response": 326,
		"keep-alive": 26, "payload": 18 + len(c.doc["packet"]), "path hello": 27, "path grant": 35,
		"path probe":     192,
		"path challenge": 43, "path echo": 43, "disconnect": 18, "denied": 25} {
		if len(c.doc[name]) != size {
			t.Errorf("%s has %d bytes, want %d", name, len(c.doc[name]), size)
		}
	}
}

// TestPageIsASession plays the session of the page with a real server and client: each makes the
// datagrams of the page, and the other accepts them.
func TestPageIsASession(t *testing.T) {
	c := cutter{t, page(t)}
	home, away := netip.MustParseAddrPort("198.51.100.7:50000"), netip.MustParseAddrPort("198.51.100.8:50001")
	addresses := []netip.AddrPort{netip.MustParseAddrPort("203.0.113.5:7913"),
		netip.MustParseAddrPort("[2001:db8::5]:7913")}
	key := runKey(0x00)
	mint := Mint{ProtocolID: pageProtocol, ClientID: pageClient, Create: pageCreate, Expire: pageExpire,
		TimeoutSeconds: 10, Servers: addresses}
	copy(mint.UserData[:], "Ada")
	random := append(append(run(0x20, 32), run(0x40, 32)...), run(0x60, 24)...)
	token, err := mint.Append(nil, &key, bytes.NewReader(random))
	if err != nil {
		t.Fatal(err)
	}
	c.same("private token", token[61:1085])
	c.same("token", token)

	secret := runKey(0x80)
	start := func() *Server {
		s := newServer(t, func(cfg *ServerConfig) {
			cfg.PrivateKey, cfg.ProtocolID, cfg.Addresses, cfg.Clients = key, pageProtocol, addresses[:1], 64
		})
		s.challengeAEAD, s.challengeSequence, s.globalSequence = packetAEAD(&secret), 7, pageGlobal
		s.freeSlots = s.freeSlots[:len(s.freeSlots)-2] // slots 0 and 1 are others'
		return s
	}
	s, client := start(), NewClient(token, ClientConfig{Roam: true})
	now := time.Second
	var up, down Outbox
	made := func(name string, out *Outbox) { // the next datagram of an outbox
		t.Helper()
		if out.Len() == 0 {
			t.Fatalf("%s: nothing was sent", name)
		}
		_, d := out.At(0)
		c.same(name, d)
		out.Reset()
	}
	serve := func(name string, from netip.AddrPort, want EventKind) {
		t.Helper()
		e, err := s.Receive(now, pageCreate, from, bytes.Clone(c.doc[name]), &down)
		if err != nil || e.Kind != want {
			t.Fatalf("server, %s: %v, %v", name, e.Kind, err)
		}
	}
	take := func(name string) []byte {
		t.Helper()
		payload, err := client.Receive(now, addresses[0], bytes.Clone(c.doc[name]), &up)
		if err != nil {
			t.Fatalf("client, %s: %v", name, err)
		}
		return payload
	}

	client.Update(now, &up)
	made("request", &up)
	serve("request", home, EventNone)
	made("challenge", &down)
	take("challenge")
	made("response", &up)
	serve("response", home, EventConnected)
	made("keep-alive", &down)
	take("keep-alive")
	if client.State() != Connected || client.Index() != 2 || client.Slots() != 64 {
		t.Fatalf("client: %v, %d of %d", client.State(), client.Index(), client.Slots())
	}
	d, err := s.Seal(now, 2, c.doc["packet"], nil)
	if c.same("payload", d); err != nil {
		t.Fatal(err)
	}
	if got := take("payload"); !bytes.Equal(got, c.doc["packet"]) {
		t.Errorf("client: payload %x", got)
	}

	s.paths[2].id = pagePath
	s.slotOfPath.put(numberKey(pagePath), 2)
	client.Update(now, &up)
	made("path hello", &up)
	serve("path hello", home, EventNone)
	made("path grant", &down)
	take("path grant")
	now += 300 * time.Millisecond
	client.Update(now, &up)
	made("path probe", &up)
	serve("path probe", away, EventNone)
	copy(s.paths[2].proof[:], run(0xb0, 16)) // which the server drew at random
	down.Reset()
	body := append([]byte{pathChallenge}, run(0xb0, 16)...)
	c.same("path challenge", s.sealer.sealPath(s.slots[2].seal, nil, s.slots[2].sequence-1, pagePath, body))
	take("path challenge")
	made("path echo", &up)
	serve("path echo", away, EventMigrated)
	down.Reset()
	client.Disconnect(now, &up)
	if up.Len() != 10 {
		t.Errorf("%d disconnects", up.Len())
	}
	made("disconnect", &up)
	serve("disconnect", away, EventDisconnect)

	full, late := start(), NewClient(token, ClientConfig{})
	full.globalSequence = pageGlobal + 1
	full.StopAccepting()
	if _, err := full.Receive(now, pageCreate, home, bytes.Clone(c.doc["request"]),
		&down); err != DropClosing {
		t.Fatal(err)
	}
	made("denied", &down)
	late.Update(now, &up)
	_, err = late.Receive(now, addresses[0], bytes.Clone(c.doc["denied"]), &up)
	if err != nil || late.serverIndex != 1 {
		t.Fatalf("denied: %v, dialling server %d", err, late.serverIndex)
	}
	late.Update(now, &up)
	_, err = late.Receive(now, addresses[1], bytes.Clone(c.doc["denied"]), &up)
	if err != nil || late.State() != ConnectionDenied {
		t.Fatalf("denied by both: %v, %v", late.State(), err)
	}
}

package netcode

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the vectors in testdata anew")

// pattern makes the bytes of the vectors: byte i is i*m + o.
func pattern(dst []byte, m, o int) []byte {
	for i := range dst {
		dst[i] = byte(i*m + o)
	}
	return dst
}

func patternKey(m, o int) (k Key) { pattern(k[:], m, o); return k }

// The inputs of the vectors.
const (
	vectorProtocol  = 0x1122334455667788
	vectorCreate    = 0xAABBCCDD11223300
	vectorExpire    = 0xAABBCCDD11223344
	vectorChallenge = 0xFFEEDDCCBBAA9988
)

func vectorPrivate() *PrivateToken {
	t := &PrivateToken{ClientID: 0x0102030405060708, TimeoutSeconds: 15, NumServers: 3,
		ClientToServer: patternKey(3, 1), ServerToClient: patternKey(5, 2)}
	for i, a := range []string{"127.0.0.1:40000", "[fe80::202:b3ff:fe1e:8329]:50000", "10.24.93.7:12345"} {
		t.Servers[i] = netip.MustParseAddrPort(a)
	}
	pattern(t.UserData[:], 7, 13)
	return t
}

func vectorPublic() *PublicToken {
	private := vectorPrivate()
	t := &PublicToken{ProtocolID: vectorProtocol, Create: vectorCreate, Expire: vectorExpire,
		TimeoutSeconds: 15, NumServers: 3,
		Servers: private.Servers, ClientToServer: private.ClientToServer,
		ServerToClient: private.ServerToClient}
	pattern(t.Nonce[:], 17, 9)
	key := patternKey(11, 3)
	sealPrivate(t, private, &key)
	return t
}

func vectorRequest(t *PublicToken) []byte {
	c := NewClient(t.Append(nil), ClientConfig{})
	var out Outbox
	c.Update(0, &out)
	_, b := out.At(0)
	return b
}

// vectorBody returns the body of the challenge and response vectors.
func vectorBody(s *sealer) []byte {
	c := challenge{clientID: 0x0102030405060708}
	pattern(c.userData[:], 9, 17)
	key := patternKey(13, 5)
	body := []byte{0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF}
	return packetAEAD(&key).Seal(body, s.nonceOf(vectorChallenge), c.append(nil), nil)
}

var vectorPackets = []struct {
	file     string
	kind     Kind
	sequence uint64
}{
	{"packet_connection_denied.bin", KindDenied, 0x11},
	{"packet_connection_challenge.bin", KindChallenge, 0x2233},
	{"packet_connection_response.bin", KindResponse, 0x334455},
	{"packet_connection_keep_alive.bin", KindKeepAlive, 0x44556677},
	{"packet_connection_payload.bin", KindPayload, 0x123456789ABCDEF0},
	{"packet_connection_disconnect.bin", KindDisconnect, 0x556677889900},
}

func vectorPlain(s *sealer, k Kind) []byte {
	switch k {
	case KindChallenge, KindResponse:
		return vectorBody(s)
	case KindKeepAlive:
		return []byte{10, 0, 0, 0, 16, 0, 0, 0}
	case KindPayload:
		return pattern(make([]byte, MaxPayload), 23, 11)
	}
	return nil
}

// encoded returns all twelve vectors as our code writes them.
func encoded() map[string][]byte {
	s := newSealer(vectorProtocol)
	public := vectorPublic()
	private := vectorPrivate().Append(nil)
	c := challenge{clientID: 0x0102030405060708}
	pattern(c.userData[:], 9, 17)
	m := map[string][]byte{
		"connect_token_private.bin":           append(private, make([]byte, tagSize)...),
		"connect_token_private_encrypted.bin": public.Private[:],
		"connect_token.bin":                   public.Append(nil),
		"challenge_token.bin":                 append(c.append(nil), make([]byte, tagSize)...),
		"challenge_token_encrypted.bin":       vectorBody(&s)[8:],
		"packet_connection_request.bin":       vectorRequest(public),
	}
	key := patternKey(7, 1)
	for _, p := range vectorPackets {
		m[p.file] = s.seal(packetAEAD(&key), nil, p.kind, p.sequence, vectorPlain(&s, p.kind))
	}
	return m
}

// Our vectors are the same on every machine.
func TestVectorsOwn(t *testing.T) {
	for file, want := range encoded() {
		path := filepath.Join("testdata", "vectors", file)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: we write other bytes", file)
		}
	}
	decodeVectors(t, filepath.Join("testdata", "vectors"))
}

// The reference implementation of netcode wrote the same twelve files: their digests are equal. Data
// beside the repository has the files; -update takes the digests from them.
func TestVectorsOfReference(t *testing.T) {
	const digests = "testdata/reference/vectors.sha256"
	ours := encoded()
	if *update && haveReference() {
		var list []byte
		for _, file := range slices.Sorted(maps.Keys(ours)) {
			theirs, err := os.ReadFile(filepath.Join(referenceFolder, file))
			if err != nil {
				t.Fatal(err)
			}
			list = fmt.Appendf(list, "%x  %s\n", sha256.Sum256(theirs), file)
		}
		if err := os.WriteFile(digests, list, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadFile(digests)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(list), "\n"), "\n")
	if len(lines) != 12 || len(ours) != 12 {
		t.Fatalf("%d digests of the reference, %d files of ours, want 12", len(lines), len(ours))
	}
	for _, line := range lines {
		digest, file, _ := strings.Cut(line, "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(ours[file])); got != digest {
			t.Errorf("%s: we write other bytes than the reference: digest %s, want %s", file, got, digest)
		}
	}
}

func decodeVectors(t *testing.T, dir string) {
	read := func(file string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var private PrivateToken
	if err := private.Parse(read("connect_token_private.bin")[:privateSize]); err != nil ||
		private != *vectorPrivate() {
		t.Errorf("private token: %v, %+v", err, private)
	}
	var public PublicToken
	if err := public.Parse(read("connect_token.bin")); err != nil || public != *vectorPublic() {
		t.Errorf("public token: %v", err)
	}
	var c challenge
	if err := c.parse(read("challenge_token.bin")[:challengeSize]); err != nil ||
		c.clientID != 0x0102030405060708 {
		t.Errorf("challenge token: %v", err)
	}
	s := newSealer(vectorProtocol)
	challengeKey, packetKey := patternKey(13, 5), patternKey(7, 1)
	plain, err := packetAEAD(&challengeKey).Open(nil, s.nonceOf(vectorChallenge),
		read("challenge_token_encrypted.bin"), nil)
	if err != nil || !bytes.Equal(plain, c.append(nil)) {
		t.Errorf("sealed challenge token: %v", err)
	}
	for _, p := range vectorPackets {
		b := read(p.file)
		h, why := parseHeader(b)
		if why != DropNone || h.kind != p.kind || h.sequence != p.sequence {
			t.Errorf("%s: header %+v, %v", p.file, h, why)
		}
		body, ok := s.open(packetAEAD(&packetKey), h, b)
		if !ok || !bytes.Equal(body, vectorPlain(&s, p.kind)) || !bodyFits(p.kind, len(body)) {
			t.Errorf("%s: does not open to what went in", p.file)
		}
	}
	v := newServer(t, func(c *ServerConfig) {
		c.PrivateKey, c.ProtocolID = patternKey(11, 3), vectorProtocol
		c.Addresses = []netip.AddrPort{netip.MustParseAddrPort("[fe80::202:b3ff:fe1e:8329]:50000")}
	})
	var out Outbox
	_, err = v.Receive(0, 1_800_000_000, host(1), read("packet_connection_request.bin"), &out)
	if err != nil || out.Len() != 1 || v.token != *vectorPrivate() {
		t.Errorf("request: %v, %d answers", err, out.Len())
	}
}

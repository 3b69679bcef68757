package netcode

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// referenceFolder holds files that the reference implementation wrote. It is beside the repository
// and in no clone: only -update reads it.
const referenceFolder = "../../../shared/vectors"

func haveReference() bool { _, err := os.Stat(referenceFolder); return err == nil }

// recordedPacket is a datagram of a recorded session of two clients and a server of the reference:
// what it says, and the digest of its bytes.
type recordedPacket struct {
	Dir      string // c2s or s2c
	Client   int
	Kind     string
	Sequence uint64        `json:",omitempty"`
	Token    *sessionToken `json:",omitempty"` // of a request
	// Hexadecimal, of a challenge and a keep-alive. A response repeats its challenge, payloads are
	// those of sessionPayload, the others are empty.
	Body   string `json:",omitempty"`
	SHA256 string
}

// sessionToken is what differs between the connect tokens of the session.
type sessionToken struct {
	Expire                                uint64
	Nonce, ClientToServer, ServerToClient string // hexadecimal
}

// sessionPayload is the payload of the session's packets: bytes that count up from the server, its
// number from a client.
func sessionPayload(dir string, client int) []byte {
	if dir == "s2c" {
		return pattern(make([]byte, MaxPayload), 1, 0)
	}
	b := bytes.Repeat([]byte{byte(client)}, MaxPayload)
	binary.LittleEndian.PutUint32(b, uint32(client))
	return b
}

// session plays the parts of both ends of a recorded session with our code.
type session struct {
	t          *testing.T
	server     *Server
	sealer     sealer
	tokens     map[int]PrivateToken
	challenges map[int][]byte
	windows    map[string]*ReplayWindow
}

func newSession(t *testing.T) *session {
	return &session{t: t, sealer: newSealer(vectorProtocol), tokens: map[int]PrivateToken{},
		challenges: map[int][]byte{}, windows: map[string]*ReplayWindow{},
		server: newServer(t, func(c *ServerConfig) {
			c.PrivateKey, c.ProtocolID, c.AllowTestKey = sampleKey, vectorProtocol, true
			c.Addresses = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:40000")}
		})}
}

// receive opens a datagram as the end that it goes to, and returns what it says.
func (s *session) receive(dir string, client int, datagram []byte) (p recordedPacket, body []byte) {
	t := s.t
	t.Helper()
	p = recordedPacket{Dir: dir, Client: client, Kind: "request"}
	if datagram[0] == 0 {
		var out Outbox
		if _, err := s.server.Receive(0, 1795237551-1, host(client), bytes.Clone(datagram),
			&out); err != nil || out.Len() != 1 {
			t.Fatalf("request of %d: %v", client, err)
		}
		token := s.server.token
		if s.tokens[client] = token; token.ClientID != uint64(1000+client) ||
			token.UserData[255] != byte(client) || token.TimeoutSeconds != 5 {
			t.Fatalf("token %+v", token)
		}
		return p, nil
	}
	h, why := parseHeader(datagram)
	if why != DropNone {
		t.Fatal(why)
	}
	name := dir + string(rune('0'+client))
	if s.windows[name] == nil {
		s.windows[name] = &ReplayWindow{}
	}
	if h.kind.replayProtected() {
		if why := s.windows[name].Check(h.sequence); why != DropNone {
			t.Fatalf("sequence %d: %v", h.sequence, why)
		}
		s.windows[name].Record(h.sequence)
	}
	aead := packetAEAD(s.key(dir, client))
	body, ok := s.sealer.open(aead, h, bytes.Clone(datagram))
	if !ok || !bodyFits(h.kind, len(body)) {
		t.Fatalf("%v of %d bytes does not open", h.kind, len(datagram))
	}
	switch h.kind {
	case KindChallenge:
		s.challenges[client] = body
		if h.sequence < globalBase {
			t.Errorf("challenge with sequence %d", h.sequence)
		}
	case KindResponse:
		if !bytes.Equal(body, s.challenges[client]) || h.sequence < 1 {
			t.Errorf("response with sequence %d is not the challenge", h.sequence)
		}
	case KindPayload:
		if !bytes.Equal(body, sessionPayload(dir, client)) {
			t.Errorf("%s %d: another payload", dir, client)
		}
	}
	p.Kind, p.Sequence = h.kind.String(), h.sequence
	return p, body
}

func (s *session) key(dir string, client int) *Key {
	token := s.tokens[client]
	if dir == "s2c" {
		return &token.ServerToClient
	}
	return &token.ClientToServer
}

// send writes the datagram that a line of the session describes.
func (s *session) send(p *recordedPacket) []byte {
	s.t.Helper()
	if p.Token != nil {
		return vectorRequest(s.token(p))
	}
	body := s.hex(p.Body)
	for k := KindDenied; k <= KindDisconnect; k++ {
		if k.String() != p.Kind {
			continue
		}
		switch k {
		case KindResponse:
			body = s.challenges[p.Client]
		case KindPayload:
			body = sessionPayload(p.Dir, p.Client)
		}
		return s.sealer.seal(packetAEAD(s.key(p.Dir, p.Client)), nil, k, p.Sequence, body)
	}
	s.t.Fatalf("kind %q: expected a kind of packet", p.Kind)
	return nil
}

// token makes the connect token of a request.
func (s *session) token(p *recordedPacket) *PublicToken {
	private := &PrivateToken{ClientID: uint64(1000 + p.Client), TimeoutSeconds: 5, NumServers: 1}
	private.Servers[0] = netip.MustParseAddrPort("127.0.0.1:40000")
	for i := range private.UserData {
		private.UserData[i] = byte(p.Client)
	}
	copy(private.ClientToServer[:], s.hex(p.Token.ClientToServer))
	copy(private.ServerToClient[:], s.hex(p.Token.ServerToClient))
	public := &PublicToken{ProtocolID: vectorProtocol, Create: p.Token.Expire - 1, Expire: p.Token.Expire,
		TimeoutSeconds: 5, NumServers: 1, Servers: private.Servers,
		ClientToServer: private.ClientToServer, ServerToClient: private.ServerToClient}
	copy(public.Nonce[:], s.hex(p.Token.Nonce))
	sealPrivate(public, private, &sampleKey)
	return public
}

func (s *session) hex(text string) []byte {
	s.t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// Two clients and a server of the reference were recorded. From what their datagrams say we write
// the same bytes, and we open each of them as the end that it goes to.
func TestSessionOfReference(t *testing.T) {
	const file = "testdata/reference/session.jsonl"
	if *update && haveReference() {
		if err := os.WriteFile(file, describeSession(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, lines, last := newSession(t), 0, ""
	for line := range bytes.Lines(text) {
		lines++
		var want recordedPacket
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		datagram := s.send(&want)
		if sum := sha256.Sum256(datagram); hex.EncodeToString(sum[:]) != want.SHA256 {
			t.Fatalf("line %d: we write another %s than the reference", lines, want.Kind)
		}
		if got, _ := s.receive(want.Dir, want.Client, datagram); got.Kind != want.Kind ||
			got.Sequence != want.Sequence {
			t.Fatalf("line %d: it opens as %+v, want %+v", lines, got, want)
		}
		last = want.Kind
	}
	if lines != 46 || last != "disconnect" {
		t.Errorf("%d lines, the last a %s", lines, last)
	}
}

// describeSession opens the datagrams of the recorded session and writes what they say.
func describeSession(t *testing.T) (out []byte) {
	f, err := os.Open(filepath.Join(referenceFolder, "netcode102_c_to_c_transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newSession(t)
	for in := bufio.NewScanner(f); in.Scan(); {
		var line struct {
			Dir, Hex string
			Client   int
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		datagram := s.hex(line.Hex)
		p, body := s.receive(line.Dir, line.Client, datagram)
		sum := sha256.Sum256(datagram)
		p.SHA256 = hex.EncodeToString(sum[:])
		switch token := s.tokens[line.Client]; p.Kind {
		case "request":
			const expireAt = 1 + len(version) + 8 // behind the kind, the version and the protocol
			p.Token = &sessionToken{Expire: binary.LittleEndian.Uint64(datagram[expireAt:]),
				Nonce:          hex.EncodeToString(datagram[expireAt+8:][:24]),
				ClientToServer: hex.EncodeToString(token.ClientToServer[:]),
				ServerToClient: hex.EncodeToString(token.ServerToClient[:])}
		case KindChallenge.String(), KindKeepAlive.String():
			p.Body = hex.EncodeToString(body)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, text...), '\n')
	}
	return out
}

package netcode

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

// ping gives a server a datagram and returns the answers.
func pinged(s *Server, now time.Duration, from netip.AddrPort, datagram []byte) (answers [][]byte, err error) {
	var out Outbox
	_, err = s.Receive(now, testUnix, from, slices.Clone(datagram), &out)
	for i := range out.Len() {
		to, d := out.At(i)
		if to == from {
			answers = append(answers, d)
		}
	}
	return answers, err
}

func TestThreat41ServerAnswersPings(t *testing.T) {
	s := newServer(t, nil)
	ping := appendPing(nil, testProtocol, 0x1122334455667788)
	for i, c := range []struct {
		datagram []byte
		err      error
	}{
		{ping, nil},
		{ping[:pingSize-1], DropSize},
		{append(slices.Clone(ping), 0), DropSize},
		{ping[:1], DropSize},
		{appendPing(nil, testProtocol+1, 7), DropReqProtocol},
		{append([]byte{0x10 | byte(KindPing)}, ping[1:]...), DropType}, // with a sequence
		{append([]byte{0x10 | byte(KindPong)}, ping[1:]...), DropType},
		{appendPong(nil, 7), DropSize}, // an answer gets none
		{append([]byte{byte(KindPong)}, ping[1:]...), DropType},
	} {
		answers, err := pinged(s, 0, host(1), c.datagram)
		if c.err == nil {
			tag, why := uint64(0), DropSize
			if len(answers) == 1 {
				tag, why = parsePong(answers[0])
			}
			if err != nil || why != DropNone || tag != 0x1122334455667788 {
				t.Errorf("%d: %v, answers %x", i, err, answers)
			}
		} else if err != c.err || len(answers) > 0 {
			t.Errorf("%d: %v and %d answers, want %v", i, err, len(answers), c.err)
		}
	}
	if s.counters.Sent[KindPong] != 1 || s.counters.Accepted[KindPing] != 1 || s.PendingHandshakes() != 0 {
		t.Errorf("%+v", s.counters)
	}
}

// A server that takes no clients leaves pings unanswered, so that clients choose another.
func TestClosedServerAnswersNoPings(t *testing.T) {
	s := newServer(t, nil)
	ping := appendPing(nil, testProtocol, 1)
	answered := func() bool {
		answers, err := pinged(s, 0, host(1), ping)
		if (err == nil) != (len(answers) == 1) || err != nil && err != DropPing {
			t.Errorf("%v and %d answers", err, len(answers))
		}
		return err == nil
	}
	s.PauseAccepting()
	if answered() {
		t.Error("a paused server answers")
	}
	s.ResumeAccepting()
	if !answered() {
		t.Error("a server does not answer after a pause")
	}
	s.StopAccepting()
	if answered() {
		t.Error("a closing server answers")
	}
}

// A flood of pings from one network leaves those of others answered; from all networks it is bounded.
func TestThreat41PingsAreLimited(t *testing.T) {
	s := newServer(t, nil)
	ping := appendPing(nil, testProtocol, 1)
	for i := range 100_000 { // in a second
		_, _ = pinged(s, time.Duration(i)*10*time.Microsecond, host(i%200), ping)
	}
	if n := s.counters.Sent[KindPong]; n < pingsPerNetwork || n > 2*pingsPerNetwork {
		t.Errorf("%d answers to one network in a second, want at most %d", n, 2*pingsPerNetwork)
	}
	if answers, err := pinged(s, time.Second, host(1<<16), ping); len(answers) != 1 {
		t.Errorf("another network: %v", err)
	}
	s = newServer(t, nil)
	for i := range 100_000 {
		_, _ = pinged(s, 0, host(i<<8), ping)
	}
	if n := s.counters.Sent[KindPong]; n > pingsPerSecond || n < pingsPerSecond/2 {
		t.Errorf("%d answers at once, want at most %d", n, pingsPerSecond)
	}
}

// A client with one address sends no ping and asks at once, as does one that was not told to choose.
func TestOneAddressIsNotPinged(t *testing.T) {
	two := func(m *Mint) { m.Servers = append(m.Servers, addresses(2)[1]) }
	for _, c := range []*Client{
		NewClient(mint(t, 1, nil), ClientConfig{Nearest: true}),
		NewClient(mint(t, 1, two), ClientConfig{}),
	} {
		var out Outbox
		c.Update(0, &out)
		if _, d := out.At(0); out.Len() != 1 || KindOf(d) != KindRequest {
			t.Errorf("%d datagrams, the first a %v, want a request", out.Len(), KindOf(d))
		}
		if _, err := c.Receive(0, testServer, appendPong(nil, 0), &out); err != DropState {
			t.Errorf("a pong to a client that pings nobody: %v", err)
		}
		if c.Pings() != nil || c.ChoiceTime() != 0 {
			t.Error("there was a choice")
		}
	}
}

// Forged answers do not change the choice: their tags are not known to others.
func TestThreat41ForgedPongsAreRefused(t *testing.T) {
	servers := func(m *Mint) { m.Servers = addresses(2) }
	c := NewClient(mint(t, 1, servers), ClientConfig{Nearest: true})
	var out Outbox
	c.Update(0, &out)
	tags := map[uint64]bool{}
	for i := range out.Len() {
		to, d := out.At(i)
		tag, why := parsePing(d, testProtocol)
		if why != DropNone || to != addresses(2)[i] || tags[tag] {
			t.Errorf("ping %d to %v: %v, tag %x", i, to, why, tag)
		}
		tags[tag] = true
	}
	if len(tags) != 2 {
		t.Fatalf("%d pings, want one to each address", len(tags))
	}
	own := c.pinging.tag(1, 0)
	for _, tag := range []uint64{0, 0x100, own ^ 1<<20, own ^ 1<<63, own | 0x8000, own | 1} {
		if _, err := c.Receive(ms, testServer, appendPong(nil, tag), &out); err != DropPing {
			t.Errorf("pong with tag %x: %v", tag, err)
		}
	}
	if _, err := c.Receive(ms, testServer, appendPong(nil, own), &out); err != nil {
		t.Error(err)
	}
	if other := NewClient(mint(t, 1, servers), ClientConfig{Nearest: true}); pingSecret(&other.token) ==
		c.pinging.secret {
		t.Error("two tokens have one secret")
	}
	if !c.counters.Balanced() {
		t.Errorf("%+v", c.counters)
	}
}

// Pings and their answers have the golden bytes of PROTOCOL.md.
func TestGoldenPing(t *testing.T) {
	doc := page(t)
	for name, got := range map[string][]byte{"ping": appendPing(nil, pageProtocol, 0x1122334455667788),
		"pong": appendPong(nil, 0x1122334455667788)} {
		if !slices.Equal(got, doc[name]) {
			t.Errorf("%s: wrote %x, the page says %x", name, got, doc[name])
		}
	}
}

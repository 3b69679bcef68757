package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server/host"
)

// foreignSizes are payload sizes: the least, a common one, the largest of older libraries, and the
// largest.
var foreignSizes = []int{1, 64, 1175, 1200}

// foreignTimeout is the timeout of a session, longer than a stall of the machine.
const foreignTimeout = 3 * time.Second

// echoes counts the payloads of one client.
type echoes struct {
	sent, back [4]int // by size
}

// foreignTalk sends rounds payloads of each size, one every gap, and compares each byte that comes
// back. Payloads of more than a byte are unique.
func foreignTalk(c *foreignClient, who uint32, rounds int, gap time.Duration) (e echoes, err error) {
	payload := func(k uint32) []byte {
		p := make([]byte, foreignSizes[k%4])
		r := rand.New(rand.NewPCG(uint64(who), uint64(k)))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		if len(p) >= 8 {
			binary.LittleEndian.PutUint32(p, who)
			binary.LittleEndian.PutUint32(p[4:], k)
		} else {
			p[0] = byte(who)
		}
		return p
	}
	came := map[uint32]bool{}
	var wrong error
	take := func(p []byte) { // nil is no payload
		size := slices.Index(foreignSizes, len(p))
		switch {
		case p == nil:
		case size < 0:
			wrong = fmt.Errorf("%d bytes came back", len(p))
		case len(p) == 1 && p[0] != byte(who):
			wrong = fmt.Errorf("byte %d came back as %d", byte(who), p[0])
		case len(p) == 1:
			e.back[size]++
		default:
			k := binary.LittleEndian.Uint32(p[4:])
			if int(k) >= 4*rounds || came[k] || !bytes.Equal(p, payload(k)) {
				wrong = fmt.Errorf("payload %d came back damaged, or twice: %x", k, p[:8])
			}
			came[k] = true
			e.back[size]++
		}
	}
	for k := range uint32(4 * rounds) {
		c.send(foreignPayload, payload(k))
		e.sent[k%4]++
		next := time.Now().Add(gap)
		if err := c.live(waitLimit, func(p []byte) bool {
			take(p)
			return time.Now().After(next)
		}); err != nil {
			return e, err
		}
	}
	// More than twice the timeout: keep-alives alone hold the session, both ways.
	quiet := time.Now().Add(2*foreignTimeout + time.Second/2)
	before := c.alives
	err = c.live(waitLimit, func(p []byte) bool { take(p); return time.Now().After(quiet) })
	if n := c.alives - before; err == nil && n < 10 {
		err = fmt.Errorf("%d keep-alives in twice the timeout", n)
	}
	return e, errors.Join(err, wrong)
}

// foreignName is another address of the server, whose bytes all differ.
var foreignName = netip.MustParseAddrPort("[fe80:102:304:506:708:90a:b0c:d0e]:40001")

// foreignServer starts serve --echo behind a bad link, with the address of the link as its public
// address.
func foreignServer(t *testing.T, link impair.Profile, args ...string) (cmd *exec.Cmd,
	r ready, public netip.AddrPort) {
	t.Helper()
	at := freePort(t)
	proxy, err := impair.NewProxy(impair.ProxyConfig{To: at, Up: link, Down: link, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- proxy.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	cmd, r = readyServer(t,
		keyless(t, nil, append([]string{"serve", "--echo", "--ready", "--listen", at, "--http", "127.0.0.1:0",
			"--public-addr", proxy.Addr().String(), "--public-addr", foreignName.String(),
			"--session-timeout", foreignTimeout.String()}, args...)...))
	return cmd, r, proxy.Addr()
}

// ends stops a server and checks its exit.
func ends(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A client that was written from the standard alone connects with a token that it minted itself,
// with the key and protocol id of the server, and with the well-known test key where that is
// allowed. Payloads of every size come back, keep-alives hold the session, and disconnects are
// received both ways. A token of another protocol, key or server has no effect.
func TestForeignClient(t *testing.T) {
	if testing.Short() {
		t.Skip("processes and seconds of real sockets")
	}
	t.Parallel()
	for i, c := range []struct {
		key  string
		id   uint64
		args string
	}{
		{secretKey, 0x1122334455667788, "--socket gnet"},
		{secretKey, 1<<64 - 1, "--socket mmsg"},
		{wellKnownKey, 7, "--insecure-test-key"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			cmd, r, public := foreignServer(t, impair.Profile{},
				append(strings.Fields(c.args), "--private-key-hex", c.key,
					"--protocol-id", fmt.Sprint(c.id), "--players", "3")...)
			key, err := hex.DecodeString(c.key)
			if err != nil {
				t.Fatal(err)
			}
			good := foreignBackend{key: key, protocol: c.id, client: 1, life: 30,
				timeout: int32(foreignTimeout / time.Second), servers: []netip.AddrPort{public, foreignName},
				private: []netip.AddrPort{foreignName}}
			dial := func(change func(*foreignBackend)) *foreignClient {
				b := good
				change(&b)
				f, err := newForeignClient(b.token())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.udp.Close() })
				return f
			}
			f := dial(func(*foreignBackend) {})
			if err := f.live(waitLimit, func([]byte) bool {
				return f.connected
			}); err != nil || f.slot != 0 || f.max != 3 {
				t.Fatalf("slot %d of %d: %v", f.slot, f.max, err)
			}
			if e, err := foreignTalk(f, 200, 5, 5*time.Millisecond); err != nil || e.back != e.sent {
				t.Errorf("%+v: %v", e, err)
			}
			for name, wrong := range map[string]*foreignClient{
				"drop_req_protocol": dial(func(b *foreignBackend) { b.protocol--; b.client = 2 }),
				"drop_req_token": dial(func(b *foreignBackend) {
					b.key = bytes.Repeat([]byte{1}, 32)
					b.client = 3
				}),
				"drop_req_address": dial(func(b *foreignBackend) {
					b.private = []netip.AddrPort{netip.MustParseAddrPort(r.UDP)}
					b.client = 5
				}),
				"drop_req_expired": dial(func(b *foreignBackend) { b.life = 0; b.client = 4 }),
			} {
				wrong.send(foreignRequest, nil)
				_ = f.live(waitLimit, func([]byte) bool { return refusals(t, r)[name] > 0 })
				if n := refusals(t, r)[name]; n == 0 || hears(wrong) {
					t.Errorf("%s: %d times, or an answer", name, n)
				}
			}
			f.disconnect()
			connected := func() int {
				var s host.EchoReport
				statsOf(t, r, &s)
				return s.Connected
			}
			if err := f.live(waitLimit, func([]byte) bool { return connected() == 0 }); err != nil {
				t.Error(err)
			}
			last := dial(func(b *foreignBackend) { b.client = 9 })
			if err := last.live(waitLimit, func([]byte) bool { return last.connected }); err != nil {
				t.Fatal(err)
			}
			ends(t, cmd)
			if err := last.live(waitLimit, func([]byte) bool { return last.ended }); err != nil {
				t.Error(err)
			}
		})
	}
}

// hears reports whether the client receives a datagram soon.
func hears(c *foreignClient) bool {
	_ = c.udp.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	_, err := c.udp.Read(make([]byte, 2000))
	return err == nil
}

// Sixty-four such clients connect at once over a mobile link, with tokens from the HTTP port. All
// get in, every payload that returns is the one that was sent, most return, and the server
// receives the disconnects.
func TestForeignClientsOverMobile(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and seconds of real sockets")
	}
	t.Parallel()
	const clients, rounds = 64, 10
	link, err := impair.ParseProfile("mobile")
	if err != nil {
		t.Fatal(err)
	}
	cmd, r, public := foreignServer(t, link, "--private-key-hex", secretKey,
		"--protocol-id", "0xfeed", "--players", fmt.Sprint(clients))
	k, err := tokensOverHTTP(t.Context(), r.HTTP, "")
	if err != nil {
		t.Fatal(err)
	}
	if k.at != public {
		t.Fatalf("tokens name %v, want %v", k.at, public)
	}
	var all [clients]*foreignClient
	for i := range all {
		token, err := k.Token(i)
		if err != nil {
			t.Fatal(err)
		}
		if all[i], err = newForeignClient(token); err != nil {
			t.Fatal(err)
		}
		defer all[i].udp.Close()
	}
	var talked sync.WaitGroup
	var got [clients]echoes
	var errs [clients]error
	for i, f := range all {
		talked.Go(func() {
			if errs[i] = f.live(waitLimit, func([]byte) bool { return f.connected }); errs[i] == nil {
				got[i], errs[i] = foreignTalk(f, uint32(i), rounds, 10*time.Millisecond)
			}
			if errs[i] == nil && i%2 == 0 {
				f.disconnect()
			}
		})
	}
	talked.Wait()
	var sum echoes
	spoilt := 0
	for i := range all {
		if errs[i] != nil {
			t.Errorf("client %d: %v", i, errs[i])
		}
		for s := range sum.sent {
			sum.sent[s] += got[i].sent[s]
			sum.back[s] += got[i].back[s]
		}
		spoilt += all[i].spoilt
	}
	for s, size := range foreignSizes {
		// 90 % live through 5 % loss each way.
		if n := sum.back[s]; n > sum.sent[s] || 100*n < 75*sum.sent[s] {
			t.Errorf("of %d B: %d sent, %d back", size, sum.sent[s], n)
		}
	}
	var s host.EchoReport
	for end := time.Now().Add(waitLimit); ; { // half have said goodbye, the others are silent
		if s = (host.EchoReport{}); time.Now().After(end) {
			t.Fatal("sessions that nobody holds are still there")
		}
		if statsOf(t, r, &s); s.Connected == 0 {
			break
		}
	}
	if n := s.Kinds["disconnect"]; n != clients/2 {
		t.Errorf("%d goodbyes were heard, want %d", n, clients/2)
	}
	if spoilt == 0 || s.Drops["drop_auth"] == 0 {
		t.Errorf("nothing was damaged on the way: %d here, %v there", spoilt, s.Drops)
	}
	t.Logf("sent %v, back %v of %v B; %d damaged datagrams refused by the clients, %d by the server",
		sum.sent, sum.back, foreignSizes, spoilt, s.Drops["drop_auth"])
	ends(t, cmd)
}

package host

import (
	"bytes"
	"crypto/rand"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// echoWorld is an echo server and clients in virtual time, on a network in memory.
type echoWorld struct {
	t       *testing.T
	net     *netio.Memory
	conn    netio.Conn
	echo    *Echo
	told    []netcode.EventKind
	now     time.Duration
	user    func([]byte) // changes the user data of tokens; nil: does not
	clients []*echoPeer
}

type echoPeer struct {
	netcode *netcode.Client
	conn    netio.Conn
	out     netcode.Outbox
	heard   [][]byte
}

const echoUnix = 1_800_000_000

func newEchoWorld(t *testing.T, clients int) *echoWorld {
	w := &echoWorld{t: t, net: netio.NewMemory()}
	var err error
	if w.conn, err = w.net.Listen(netip.MustParseAddrPort("10.0.0.1:7913"), netio.Config{}); err != nil {
		t.Fatal(err)
	}
	cfg := netcode.ServerConfig{PrivateKey: labKey, ProtocolID: 5,
		Addresses: []netip.AddrPort{w.conn.LocalAddr()},
		Entropy:   [32]byte{1}, Clients: clients, AllowTokenReuse: true}
	if w.echo, err = NewEcho(cfg, 1); err != nil {
		t.Fatal(err)
	}
	w.echo.OnEvent = func(kind netcode.EventKind, _ int) { w.told = append(w.told, kind) }
	return w
}

// join adds a client, which begins to connect with the next step.
func (w *echoWorld) join(id uint64) *echoPeer {
	sock, err := w.net.Listen(netip.MustParseAddrPort("10.0.0.2:0"), netio.Config{})
	if err != nil {
		w.t.Fatal(err)
	}
	m := netcode.Mint{ProtocolID: 5, ClientID: id, Create: echoUnix, Expire: echoUnix + 45, TimeoutSeconds: 5,
		Servers: []netip.AddrPort{w.conn.LocalAddr()}}
	if w.user != nil {
		w.user(m.UserData[:])
	}
	key := labKey
	token, err := m.Append(nil, &key, rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &echoPeer{netcode: netcode.NewClient(token, netcode.ClientConfig{}), conn: sock}
	w.clients = append(w.clients, c)
	return c
}

// step plays a millisecond.
func (w *echoWorld) step() {
	w.now += time.Millisecond
	for _, c := range w.clients {
		c.step(w.t, w.now)
	}
	if _, err := w.echo.Tick(w.now, echoUnix, w.conn); err != nil {
		w.t.Fatal(err)
	}
}

// step receives what has arrived and sends what is due.
func (c *echoPeer) step(t *testing.T, now time.Duration) {
	var b netio.Batch
	for {
		n, err := c.conn.Receive(&b)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		for i := range n {
			payload, _ := c.netcode.Receive(now, b.At(i).Addr, b.At(i).Data, &c.out)
			if payload != nil {
				c.heard = append(c.heard, bytes.Clone(payload))
			}
		}
	}
	c.netcode.Update(now, &c.out)
	b.Reset()
	for i := range c.out.Len() {
		to, d := c.out.At(i)
		if b.Full() {
			if err := c.conn.Send(&b); err != nil {
				t.Fatal(err)
			}
			b.Reset()
		}
		b.Add(d, to)
	}
	c.out.Reset()
	if err := c.conn.Send(&b); err != nil {
		t.Fatal(err)
	}
}

// longest is the longest payload whose datagram a Conn takes.
const longest = min(netcode.MaxPayload, netio.MaxDatagram-(netcode.MaxDatagram-netcode.MaxPayload))

// Every payload comes back unchanged to its sender, and the counters account for every datagram.
func TestEcho(t *testing.T) {
	w := newEchoWorld(t, 3)
	for id := range uint64(3) {
		w.join(id + 1)
	}
	for range 10 {
		w.step()
	}
	var want [3][][]byte
	for round := range 40 {
		for i, c := range w.clients {
			if c.netcode.State() != netcode.Connected {
				t.Fatalf("client %d: %v", i, c.netcode.State())
			}
			payload := make([]byte, 1+(round*40+i)%longest)
			_, _ = rand.Read(payload)
			want[i] = append(want[i], payload)
			if err := c.netcode.Send(w.now, payload, &c.out); err != nil {
				t.Fatal(err)
			}
		}
		w.step()
	}
	w.step()
	for i, c := range w.clients {
		if len(c.heard) != len(want[i]) {
			t.Fatalf("client %d heard %d of %d", i, len(c.heard), len(want[i]))
		}
		for k := range c.heard {
			if !bytes.Equal(c.heard[k], want[i][k]) {
				t.Fatalf("client %d, payload %d came back changed", i, k)
			}
		}
	}
	w.clients[0].netcode.Disconnect(w.now, &w.clients[0].out)
	w.step()
	if n := w.echo.Server().Connected(); n != 2 {
		t.Errorf("%d connected after one left", n)
	}
	count := w.echo.Server().Counters()
	if !count.Balanced() || count.Accepted[netcode.KindPayload] != 120 ||
		count.Sent[netcode.KindPayload] != 120 || w.echo.TooLong() != 0 {
		t.Errorf("%+v", *count)
	}
	kinds := map[netcode.EventKind]int{}
	for _, k := range w.told {
		kinds[k]++
	}
	if kinds[netcode.EventConnected] != 3 || kinds[netcode.EventDisconnect] != 1 || len(kinds) != 2 {
		t.Errorf("told of %v", w.told)
	}
}

// A flood from unknown addresses changes nothing for connected clients, and gets no answer.
func TestEchoFlood(t *testing.T) {
	w := newEchoWorld(t, 2)
	c := w.join(1)
	for range 10 {
		w.step()
	}
	stranger, err := w.net.Listen(netip.MustParseAddrPort("10.0.0.3:0"), netio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var b netio.Batch
	junk := make([]byte, 1078) // a request by its first byte
	for round := range 100 {
		b.Reset()
		for !b.Full() {
			b.Add(junk, w.conn.LocalAddr())
		}
		if err := stranger.Send(&b); err != nil {
			t.Fatal(err)
		}
		if err := c.netcode.Send(w.now, []byte{byte(round)}, &c.out); err != nil {
			t.Fatal(err)
		}
		w.step()
	}
	w.step()
	if len(c.heard) != 100 {
		t.Errorf("%d of 100 came back", len(c.heard))
	}
	count := w.echo.Server().Counters()
	if !count.Balanced() || count.Drops[netcode.DropReqVersion] != 6400 || stranger.Stats().DatagramsIn != 0 {
		t.Errorf("%+v, and %d answers to strangers", *count, stranger.Stats().DatagramsIn)
	}
}

// Close sends each client ten disconnects.
func TestEchoClose(t *testing.T) {
	w := newEchoWorld(t, 20)
	for id := range uint64(20) {
		w.join(id + 1)
	}
	for range 10 {
		w.step()
	}
	before := w.conn.Stats().DatagramsOut
	w.echo.Close(w.now)
	calls := 0
	for left := 1; left > 0; calls++ {
		var err error
		if left, err = w.echo.Flush(w.conn); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.conn.Stats().DatagramsOut - before; n != 200 || calls != 4 { // 64 a batch
		t.Errorf("%d datagrams in %d batches", n, calls)
	}
	for i, c := range w.clients {
		c.step(t, w.now)
		if c.netcode.State() != netcode.Disconnected || c.netcode.Err() != nil {
			t.Errorf("client %d: %v", i, c.netcode.State())
		}
	}
	late := w.join(99)
	for range 10 {
		w.step()
	}
	if late.netcode.State() != netcode.ConnectionDenied {
		t.Errorf("who comes after the end: %v", late.netcode.State())
	}
}

// Echoing allocates nothing once all clients are connected.
func TestEchoAllocates(t *testing.T) {
	w := newEchoWorld(t, 4)
	for id := range uint64(4) {
		w.join(id + 1)
	}
	for range 300 {
		w.step()
	}
	payload := make([]byte, longest)
	say := func() {
		for _, c := range w.clients {
			if err := c.netcode.Send(w.now, payload, &c.out); err != nil {
				t.Fatal(err)
			}
		}
	}
	tick := func() {
		if _, err := w.echo.Tick(w.now, echoUnix, w.conn); err != nil {
			t.Fatal(err)
		}
	}
	say()
	w.step()
	if n := testing.AllocsPerRun(1, func() {
		w.now += time.Millisecond
		tick()
	}); n != 0 {
		t.Errorf("a tick without payloads: %v allocations", n)
	}
	var b netio.Batch
	out := [][]byte{}
	for range 400 {
		say()
		for _, c := range w.clients {
			_, d := c.out.At(0)
			out = append(out, bytes.Clone(d))
			c.out.Reset()
		}
	}
	calls := uint64(0)
	if n := alloctest.In(100, func() {
		calls++
		for _, c := range w.clients {
			b.Reset()
			b.Add(out[0], w.conn.LocalAddr())
			out = out[1:]
			if err := c.conn.Send(&b); err != nil {
				t.Fatal(err)
			}
		}
		tick()
	}); n != 0 {
		t.Errorf("a tick with payloads: %v allocations", n)
	}
	if got := w.echo.Server().Counters().Accepted[netcode.KindPayload]; got != 4+4*calls {
		t.Errorf("%d payloads", got)
	}
}

package netio

import (
	"errors"
	"net"
	"net/netip"
	"reflect"
	"sync"
	"testing"
	"time"
)

// poll collects until want datagrams have arrived, and a moment longer.
func poll(t testing.TB, f *ClientPool, want int, fn func(i int, data []byte)) (got int) {
	t.Helper()
	for end := time.Now().Add(receiveTimeout); time.Now().Before(end); {
		n := pollAll(f, fn)
		if got += n; n == 0 {
			if got >= want {
				end = time.Now().Add(min(2*time.Millisecond, time.Until(end)))
				want = 1 << 30
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	return got
}

// Clients are added and removed. A number that is reused does not receive datagrams of its former
// client.
func TestPoolClientsComeAndGo(t *testing.T) {
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), 3)
	var b Batch
	for _, i := range []int{0, 1, 2} {
		b.Add([]byte{byte(i)}, f.LocalAddr(i))
	}
	if err := c.Send(&b); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	if err := f.Remove(1); err != nil {
		t.Fatal(err)
	}
	if i, err := f.Add(); i != 1 || err != nil {
		t.Fatalf("added client %d: %v", i, err)
	}
	if i, err := f.Add(); i != 3 || err != nil || len(f.clients) != 4 {
		t.Fatalf("added client %d of %d: %v", i, len(f.clients), err)
	}
	seen := map[int]byte{}
	poll(t, f, 2, func(i int, data []byte) { seen[i] = data[0] })
	if len(seen) != 2 || seen[0] != 0 || seen[2] != 2 {
		t.Fatalf("delivered %v, want 0 and 2 only", seen)
	}
	b.Reset()
	b.Add([]byte("new"), f.LocalAddr(1))
	if err := c.Send(&b); err != nil {
		t.Fatal(err)
	}
	if got := poll(t, f, 1, func(i int, data []byte) {
		if i != 1 || string(data) != "new" {
			t.Fatalf("client %d got %q", i, data)
		}
	}); got != 1 {
		t.Fatal("the new owner of number 1 got nothing")
	}
}

// A client may be removed in the middle of its own datagrams, with others.
func TestPoolClientsLeaveWhilePolled(t *testing.T) {
	const n = 20
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), n)
	for range 3 * groDepthForTest {
		var b Batch
		for i := range n {
			b.Add([]byte("x"), f.LocalAddr(i))
		}
		if err := c.Send(&b); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Millisecond)
	gone := map[int]bool{}
	pollAll(f, func(i int, _ []byte) {
		if gone[i] {
			t.Fatalf("client %d got a datagram after it had left", i)
		}
		for _, k := range []int{i, (i + 7) % n} {
			if !gone[k] {
				gone[k] = true
				if err := f.Remove(k); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if f.Stats().Clients != n-len(gone) || len(gone) < n/2 {
		t.Fatalf("%d clients left, %d are gone", f.Stats().Clients, len(gone))
	}
	if err := f.Send(firstGone(gone), nil); !errors.Is(err, ErrNoClient) {
		t.Fatalf("send as a client that has left: %v", err)
	}
}

// pollAll polls until no more datagrams wait, and returns how many there were.
func pollAll(f *ClientPool, fn func(i int, data []byte)) (delivered int) {
	for more := true; more; {
		var n int
		n, more = f.Poll(512, fn)
		delivered += n
	}
	return delivered
}

const groDepthForTest = 8

func firstGone(gone map[int]bool) int {
	for i := 0; ; i++ {
		if gone[i] {
			return i
		}
	}
}

// A missing server is an error at some time, never a hang. When it starts, the pool reaches it.
func TestPoolOutlivesItsServer(t *testing.T) {
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	addr := c.LocalAddr()
	f := mustPool(t, addr, 2)
	c.Close()
	refused := 0
	for range 20 {
		if f.Send(0, []byte("x")) != nil {
			refused++
		}
		pollAll(f, func(int, []byte) { t.Fatal("a datagram from nobody") })
		time.Sleep(100 * time.Microsecond)
	}
	if s := f.Stats(); s.SendFailed != uint64(refused) || s.DatagramsOut != uint64(20-refused) {
		t.Fatalf("%d refusals, counted %+v", refused, s)
	}
	again := mustListen(t, ListenMmsg, addr.String(), Config{})
	pollAll(f, func(int, []byte) {})
	_ = f.Send(0, []byte("x")) // may still bring the news of the last refusal
	echoPool(t, again, f)
}

func echoPool(t *testing.T, c Conn, f *ClientPool) {
	t.Helper()
	if err := f.Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	var b Batch
	found := false
	receive(t, c, &b, 1, func(d Datagram) {
		found = found || string(d.Data) == "hello" &&
			d.Addr == f.LocalAddr(1)
	})
	if !found {
		t.Fatal("the pool's datagram did not arrive")
	}
}

func TestClosedPoolSaysSo(t *testing.T) {
	f := mustPool(t, netip.MustParseAddrPort("127.0.0.1:9"), 2)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Add(); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("add: %v", err)
	}
	for _, i := range []int{-1, 0, 2} {
		if err := f.Send(i, nil); !errors.Is(err, ErrNoClient) {
			t.Fatalf("send as %d: %v", i, err)
		}
		if err := f.Remove(i); !errors.Is(err, ErrNoClient) {
			t.Fatalf("remove %d: %v", i, err)
		}
	}
	if n := pollAll(f, func(int, []byte) {}); n != 0 {
		t.Fatalf("polled %d", n)
	}
}

// vet reports each copy of a ClientBatch, because it holds a Locker by value.
func TestClientBatchIsNotCopied(t *testing.T) {
	field, ok := reflect.TypeFor[ClientBatch]().FieldByName("_")
	if !ok || !reflect.PointerTo(field.Type).Implements(reflect.TypeFor[sync.Locker]()) {
		t.Error("vet does not see copies of a ClientBatch")
	}
}

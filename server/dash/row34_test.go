package dash

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// TestThreat34SlowReaders: slow and stuck readers have at most two frames waiting, the newest, and
// skipped frames are counted. They are disconnected after their timeout, and counted. Readers
// beyond MaxReaders are refused, and counted. A fast reader gets every frame, and publishing waits
// for no reader's lock.
func TestThreat34SlowReaders(t *testing.T) {
	d := sample(2000)
	d.readTimeout = slowTimeout
	var dropped, kicked, refused atomic.Uint64
	add := func(n *atomic.Uint64) func() { return func() { n.Add(1) } }
	d.Dropped, d.Kicked, d.Refused = add(&dropped), add(&kicked), add(&refused)
	s := site(t, d)
	count := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.readers)
	}
	stop := make(chan struct{})
	defer close(stop)
	for i := range MaxReaders - 1 {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
		fmt.Fprint(conn, "GET /dash/events HTTP/1.1\r\nHost: x\r\n\r\n")
		if i == 0 {
			continue // this one never reads
		}
		go func() {
			for one := make([]byte, 1); ; {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Millisecond):
					_, _ = conn.Read(one)
				}
			}
		}()
	}
	until(t, "the slow ones are in", func() bool { return count() == MaxReaders-1 })
	events := watch(t, s)
	<-events
	if resp, err := http.Get(s.URL + "/dash/events"); err != nil ||
		resp.StatusCode != http.StatusServiceUnavailable || refused.Load() != 1 {
		t.Errorf("one more: %v, %v, %d refused", resp, err, refused.Load())
	} else {
		resp.Body.Close()
	}
	tick := uint64(0)
	until(t, "they are let go", func() bool {
		if e := nextEvent(events, func() {
			tick++
			d.mu.Lock() // whatever a reader does with it
			defer d.mu.Unlock()
			d.fill(tick, 2000)
		}); e[0] != "frame" {
			t.Fatalf("event %q", e[0])
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		for r := range d.readers {
			if len(r.frames) > readerFrames {
				t.Errorf("%d frames wait", len(r.frames))
			}
		}
		return len(d.readers) == 1
	})
	until(t, "they are counted", func() bool { return kicked.Load() == MaxReaders-1 })
	if dropped.Load() == 0 {
		t.Error("none of them missed anything")
	}
}

// A slow reader misses the oldest frames.
func TestThreat34OldestIsDropped(t *testing.T) {
	d := sample(1)
	defer d.Close()
	r := d.join()
	defer d.leave(r)
	for _, text := range []string{"a", "b", "c", "d"} {
		d.broadcast([]byte(text))
	}
	if one, two := <-r.frames, <-r.frames; string(one)+string(two) != "cd" || r.missed.Load() != 2 {
		t.Errorf("%s, %s, %d missed", one, two, r.missed.Load())
	}
}

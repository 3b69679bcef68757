package dash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickrate/tickrate/internal/alloctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample returns the page of a lobby that does not exist.
func sample(players int) *Dash {
	return New(About{Name: "here", Rate: 60, Interval: 3, MaxPlayers: players,
		Stages: []Stage{{"receive", "receive"}, {"move", "match"}},
		Parts:  []string{"heads", "rest"}, Bones: []string{"head"}})
}

// site serves a page until the test ends.
func site(t *testing.T, d *Dash) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	d.Routes(mux)
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		d.Close()
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// fill writes frame n with a number of players.
func (d *Dash) fill(n uint64, players int) {
	f := d.Next()
	f.Tick = n
	for slot := range players {
		f.Players = append(f.Players, Player{Slot: slot, Name: "somebody with a name", X: float32(slot)})
	}
	if s := f.AddShot(); s != nil {
		s.Then, s.Now = append(s.Then, Capsule{1, 2, 3, 4, 5, 6, 7}), append(s.Now, Capsule{float32(n)})
	}
	d.Publish()
}

// watch reads a stream until the test ends and gives its events: name and data.
func watch(t *testing.T, s *httptest.Server) <-chan [2]string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/dash/events", nil)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	events, done := make(chan [2]string, 1000), make(chan struct{})
	go func() {
		defer close(done)
		defer close(events)
		lines, name := bufio.NewScanner(resp.Body), ""
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = rest
			} else if rest, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- [2]string{name, rest}
			}
		}
	}()
	t.Cleanup(func() { stop(); resp.Body.Close(); <-done })
	return events
}

// slowTimeout is the write timeout of a reader in tests of readers that do not read: much longer
// than a stall of the machine and than some frames take to encode under the race detector.
const slowTimeout = 3 * time.Second

// until waits for a condition that another goroutine brings about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// nextEvent publishes frames until the reader gets an event. The goroutine that encodes frames
// leaves out what was published before its start.
func nextEvent(events <-chan [2]string, publish func()) [2]string {
	for {
		publish()
		select {
		case e := <-events:
			return e
		case <-time.After(2 * lookEvery):
		}
	}
}

// A reader gets the lobby once, then frames in order. The source of frames is told when the last
// reader is gone.
func TestStream(t *testing.T) {
	d := sample(4)
	s := site(t, d)
	if d.Watched() {
		t.Error("watched by nobody")
	}
	t.Run("reader", func(t *testing.T) {
		events := watch(t, s)
		if first := <-events; first[0] != "about" || !strings.Contains(first[1], `"name":"here"`) {
			t.Errorf("first %q", first)
		}
		if !d.Watched() {
			t.Error("not watched")
		}
		var n, last uint64
		for last < 5 {
			e := nextEvent(events, func() { n++; d.fill(n, 3) })
			var f Frame
			if err := json.Unmarshal([]byte(e[1]), &f); err != nil || e[0] != "frame" || f.Tick <= last ||
				len(f.Players) != 3 || len(f.Shots) != 1 ||
				f.Shots[0].Now[0][0] != float32(f.Tick) || len(f.Shots[0].Then) != 1 {
				t.Fatalf("frame %d: %q, %v", n, e, err)
			}
			last = f.Tick
		}
	})
	until(t, "nobody watches", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return !d.encoding
	})
	if d.Watched() {
		t.Error("still watched")
	}
	old := uint64(1000)
	d.fill(old, 1) // there is no reader, and the next one does not get it
	next := watch(t, s)
	<-next
	n := old
	if e := nextEvent(next, func() { n++; d.fill(n, 1) }); strings.HasPrefix(e[1], `{"tick":1000,`) {
		t.Errorf("a frame from before: %q", e)
	}
}

// The number of readers is bounded, and a slot is free when a reader leaves.
func TestReadersAreBounded(t *testing.T) {
	d := sample(1)
	s := site(t, d)
	var all []*reader
	for range MaxReaders {
		all = append(all, d.join())
	}
	resp, err := http.Get(s.URL + "/dash/events")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" ||
		string(body) != "16 readers already\n" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	d.leave(all[0])
	if <-watch(t, s); !d.Watched() {
		t.Error("the free place was not given")
	}
	for _, r := range all[1:] {
		d.leave(r)
	}
}

// A reader that never reads misses frames and is disconnected. Another gets every frame, and the
// source never blocks.
func TestStuckReader(t *testing.T) {
	d := sample(2000)
	d.readTimeout = slowTimeout
	s := site(t, d)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
	fmt.Fprint(conn, "GET /dash/events HTTP/1.1\r\nHost: x\r\n\r\n")
	count := func() (n int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.readers)
	}
	until(t, "the stuck one is in", func() bool { return count() == 1 })
	var stuck *reader
	for r := range d.readers {
		stuck = r
	}
	events, n := watch(t, s), uint64(0)
	<-events
	until(t, "it is let go", func() bool {
		if e := nextEvent(events, func() { n++; d.fill(n, 2000) }); e[0] != "frame" {
			t.Fatalf("event %q", e[0])
		}
		return count() == 1
	})
	if stuck.missed.Load() == 0 {
		t.Error("it missed nothing")
	}
	if e := nextEvent(events, func() { n++; d.fill(n, 1) }); e[0] != "frame" {
		t.Errorf("the other one hears %q", e[0])
	}
}

// A reader that was too slow is told how much it missed.
func TestSlowReaderIsTold(t *testing.T) {
	d := sample(1)
	r := d.join()
	for range readerFrames + 3 {
		d.broadcast([]byte("x"))
	}
	if n := r.missed.Load(); n != 3 {
		t.Errorf("%d missed", n)
	}
	d.leave(r)
	d.Close()
}

// Publishing frames neither blocks nor allocates, whatever the readers do.
func TestFramesAllocateNothing(t *testing.T) {
	d := sample(64)
	var n uint64
	if a := alloctest.In(100, func() { n++; d.fill(n, 64) }); a != 0 {
		t.Errorf("%v allocations a frame", a)
	}
	if lost := d.buffer.lost.Load(); lost != n-1 {
		t.Errorf("%d of %d frames counted as lost", lost, n-1)
	}
}

// The reader sees whole frames, each newer than the one before, and every frame was read or is
// counted as lost.
func TestTripleBuffer(t *testing.T) {
	const frames = 20000
	var b tripleBuffer
	b.init(&About{MaxPlayers: 8, Stages: make([]Stage, 0), Parts: make([]string, 0), Bones: make([]string, 0)})
	var writer sync.WaitGroup
	writer.Add(1)
	go func() {
		defer writer.Done()
		for n := uint64(1); n <= frames; n++ {
			f := b.next()
			f.reset()
			f.Tick = n
			for range 8 {
				f.Players = append(f.Players, Player{Slot: int(n)})
			}
			b.publish()
		}
	}()
	var read, last uint64
	for last < frames {
		f := b.take()
		if f == nil {
			continue
		}
		for _, p := range f.Players {
			if p.Slot != int(f.Tick) {
				t.Fatalf("frame %d has a row of %d", f.Tick, p.Slot)
			}
		}
		if f.Tick <= last || len(f.Players) != 8 {
			t.Fatalf("frame %d after %d, %d rows", f.Tick, last, len(f.Players))
		}
		last = f.Tick
		read++
	}
	writer.Wait()
	if read+b.lost.Load() != frames {
		t.Errorf("%d read, %d lost, of %d", read, b.lost.Load(), frames)
	}
}

// The response says that the page loads nothing from elsewhere, and it does not.
func TestPageIsClosed(t *testing.T) {
	d := sample(1)
	d.SetMap(Map{Arena: "</script>", Solids: []Solid{{Shape: "box"}}})
	s := site(t, d)
	for path, kind := range map[string]string{"/": "text/html", "/dash/page.js": "text/javascript",
		"/dash/page.css": "text/css", "/dash/map.json": "application/json"} {
		resp, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		h := resp.Header
		if resp.StatusCode != 200 || !strings.HasPrefix(h.Get("Content-Type"), kind) ||
			h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, resp.StatusCode, h)
		}
		if path == "/" && (strings.Contains(string(body), "style=") ||
			strings.Contains(string(body), "<style") || strings.Contains(string(body), "://")) {
			t.Error("the page has a style of its own or an address elsewhere")
		}
	}
	if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Error(policy)
	}
	if resp, err := http.Get(s.URL + "/elsewhere"); err != nil || resp.StatusCode != 404 {
		t.Errorf("%v %v", resp, err)
	} else {
		resp.Body.Close()
	}
}

// After Close streams end, there are no others, and nothing is left running.
func TestClose(t *testing.T) {
	d := sample(1)
	s := site(t, d)
	events := watch(t, s)
	<-events
	d.Close()
	if e, more := <-events; more {
		t.Errorf("after the end %q", e)
	}
	if d.join() != nil {
		t.Error("a new reader after the end")
	}
	d.fill(1, 1)
	d.Close()
}

func BenchmarkEncode1000(b *testing.B) {
	d := sample(1000)
	d.fill(1, 1000)
	f := d.buffer.take()
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(event("frame", f))))
	}
}

package crowd

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// echo is a client that counts each datagram of the server as a snapshot.
type echo struct {
	stats Stats
	last  time.Duration
}

func (e *echo) Receive(d []byte, now time.Duration) {
	if string(d) == "ping" {
		e.stats.Snapshots++
	}
	e.stats.Bytes += len(d)
	e.last = now
}

func (e *echo) Update(dst []byte, _ time.Duration) []byte { return append(dst, "ping"...) }
func (e *echo) Period() time.Duration                     { return 5 * time.Millisecond }
func (e *echo) Stats() Stats                              { return e.stats }

// Clients play while the server answers, each from an address of its own, and no longer once it has
// been silent for a second.
func TestCrowd(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	mute, from := make(chan bool), make(chan string, 1<<16)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		in := make([]byte, 2048)
		for {
			n, addr, err := server.ReadFromUDPAddrPort(in)
			if err != nil {
				return
			}
			select {
			case <-mute:
			default:
				from <- addr.String()
				_, _ = server.WriteToUDPAddrPort(in[:n], addr)
			}
		}
	}()
	clients := []Client{&echo{}, &echo{}, &echo{}}
	c, err := Start(server.LocalAddr().(*net.UDPAddr).AddrPort(), clients)
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func(Stats, int) bool) {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			s, playing := c.Stats()
			if ok(s, playing) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d play, %+v", what, playing, s)
			}
		}
	}
	until("all play", func(s Stats, playing int) bool {
		return playing == 3 && s.Snapshots >= 30 && s.Updates >= s.Snapshots && s.Bytes == 4*s.Snapshots
	})
	close(mute)
	until("none plays", func(_ Stats, playing int) bool { return playing == 0 })
	c.Stop()
	_ = server.Close()
	<-ended
	addresses := map[string]bool{}
	for len(from) > 0 {
		addresses[<-from] = true
	}
	if len(addresses) != 3 {
		t.Errorf("clients have the addresses %v, expected three", addresses)
	}
	before, _ := c.Stats()
	if time.Sleep(30 * time.Millisecond); before.Updates == 0 {
		t.Error("no update was counted")
	}
	if after, _ := c.Stats(); after != before {
		t.Errorf("after Stop: %+v became %+v", before, after)
	}
}

// Updates are late by more than half a period; those left out are late as well.
func TestSchedule(t *testing.T) {
	const ms = time.Millisecond
	s := schedule{due: 100 * ms}
	for _, c := range []struct {
		now           time.Duration
		due           time.Duration // of the next
		updates, late int
	}{
		{100 * ms, 120 * ms, 1, 0}, {130 * ms, 140 * ms, 2, 0}, {151 * ms, 160 * ms, 3, 1},
		{250 * ms, 180 * ms, 4, 2}, {260 * ms, 200 * ms, 5, 3}, // 3 periods behind: it catches up
		{400 * ms, 400 * ms, 15, 13}, // at 220 it is 9 behind: these are left out
		{400 * ms, 420 * ms, 16, 13},
	} {
		s.next(c.now, 20*ms)
		if s.due != c.due || s.updates != c.updates || s.late != c.late {
			t.Errorf("at %v: %+v, want %+v", c.now, s, c)
		}
	}
}

// Every count is in both sums: what is added comes off again.
func TestStats(t *testing.T) {
	var a, b Stats
	counts := 0
	for i := range reflect.TypeFor[Stats]().NumField() {
		if f := reflect.ValueOf(&a).Elem().Field(i); f.CanInt() {
			f.SetInt(int64(10 + i))
			reflect.ValueOf(&b).Elem().Field(i).SetInt(int64(100 * (i + 1)))
			counts++
		}
	}
	sum := a.Add(b)
	for i := range counts {
		if got, want := reflect.ValueOf(sum).Field(i).Int(), int64(10+i+100*(i+1)); got != want {
			t.Errorf("field %d: sum %d, want %d", i, got, want)
		}
	}
	if got := sum.Sub(b); got != a {
		t.Errorf("%+v, want %+v", got, a)
	}
	first, second := os.ErrExist, os.ErrInvalid
	if s := (Stats{LastError: first}).Add(Stats{LastError: second}); s.LastError != first {
		t.Errorf("error %v", s.LastError)
	}
	if s := (Stats{}).Add(Stats{LastError: second}); s.LastError != second {
		t.Errorf("error %v", s.LastError)
	}
}

func TestRecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("5 cGluZw==\n1250 AAECAw==\n")
	got, err := ReadRecording(file)
	want := []Datagram{{5 * time.Millisecond, []byte("ping")}, {1250 * time.Millisecond, []byte{0, 1, 2, 3}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, c := range []struct{ text, want string }{
		{"5 cGluZw==\nx cGluZw==\n", ":2: expected milliseconds"}, {"5\n", ":1: expected milliseconds"},
		{"5 ???\n", ":1: illegal base64"},
	} {
		write(c.text)
		if _, err := ReadRecording(file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %q in it", c.text, err, c.want)
		}
	}
	if _, err := ReadRecording(file + "x"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

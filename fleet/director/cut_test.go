package director

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/fleet/bus"
)

// wire passes TCP connections on to a server until it is cut.
type wire struct {
	t      *testing.T
	listen net.Listener
	to     string
	done   sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	whole *sync.Cond
	cut   bool
}

func newWire(t *testing.T, to string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, listen: l, to: to}
	w.whole = sync.NewCond(&w.mu)
	w.done.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.mend()
		w.reset()
		w.done.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		near, err := w.listen.Accept()
		if err != nil {
			return
		}
		w.wait()
		far, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, near, far)
		w.mu.Unlock()
		w.done.Go(func() { w.pass(near, far) })
		w.done.Go(func() { w.pass(far, near) })
	}
}

// wait blocks while the wire is cut.
func (w *wire) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.cut {
		w.whole.Wait()
	}
}

func (w *wire) pass(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		w.wait()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// stall holds back all bytes: neither end notices, as when a cable is pulled.
func (w *wire) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
}

// mend lets all bytes pass again, those that were held back first.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = false
	w.whole.Broadcast()
}

// reset ends all connections without a farewell, as when a process is killed. New ones wait for mend.
func (w *wire) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	w.conns = nil
}

// A director is cut off from NATS in the middle of its requests, and closes nothing. The other one has
// the answers that it gave, uses the reservations that it could not answer, and gives no place twice.
// When the wire is mended, what was held back changes nothing, and both agree.
func TestRow80DirectorIsCutOff(t *testing.T) {
	for name, cut := range map[string]func(*wire){
		"stalled": (*wire).stall,
		"reset":   func(w *wire) { w.stall(); w.reset() },
	} {
		t.Run(name, func(t *testing.T) {
			shared, err := bus.Open(bus.Config{Name: "shared", Listen: "127.0.0.1:0"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(shared.Close)
			w := newWire(t, strings.TrimPrefix(shared.URL(), "nats://"))
			weak, err := bus.Open(bus.Config{Name: "weak", URL: "nats://" + w.listen.Addr().String()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(weak.Close)
			one, two := testDirector(t, weak, nil), testDirector(t, shared, nil)
			defer two.Close()
			defer one.Close()
			const hosts, places = 3, 3 * 8
			for n := range hosts {
				h := at(testHost(n, 0), fmt.Sprintf("192.0.2.%d:7913", n+1))
				h.MostRooms = 1
				one.known(h)
				two.known(h)
			}
			answers := matchUntilCut(t, one, places, func() { cut(w) })
			if len(answers) < 6 || len(answers) > 6+7 {
				t.Fatalf("%d of %d requests answered by a director that was cut off at the sixth", len(answers), places)
			}
			for n := range places {
				ask := Ask{fmt.Sprintf("r%d", n), 1, "a", "m", 0}
				a, err := two.Match(context.Background(), ask)
				if err != nil {
					t.Fatalf("%s: %v", ask.RequestID, err)
				}
				if first, given := answers[ask.RequestID]; given && !reflect.DeepEqual(a, first) {
					t.Errorf("%s has another answer after the cut", ask.RequestID)
				}
				answers[ask.RequestID] = a
			}
			if _, err := two.Match(context.Background(), Ask{"more", 1, "a", "m", 0}); !errors.As(err, new(NoRoom)) {
				t.Errorf("a place beyond all: %v", err)
			}
			w.mend()
			eventually(t, "the director that was cut off answers as the other", func() bool {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				a, err := one.Match(ctx, Ask{"r0", 1, "a", "m", 0})
				return err == nil && reflect.DeepEqual(a, answers["r0"])
			})
			for id, want := range answers {
				if a, err := one.Match(context.Background(), Ask{id, 1, "a", "m", 0}); err != nil ||
					!reflect.DeepEqual(a, want) {
					t.Errorf("%s: %v, or another answer", id, err)
				}
			}
			for _, d := range []*Director{one, two} {
				for n := range hosts {
					if got := d.committed(fmt.Sprintf("h%04d", n)); got != 8 {
						t.Errorf("host %d has %d places promised, want 8", n, got)
					}
				}
			}
		})
	}
}

// matchUntilCut asks a director for matches, eight at a time, cuts its wire at the sixth answer, and
// returns the answers that it gave all the same.
func matchUntilCut(t *testing.T, d *Director, requests int, cut func()) map[string]Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	var mu sync.Mutex
	answers, asking := map[string]Answer{}, sync.WaitGroup{}
	next := make(chan string, requests)
	for n := range requests {
		next <- fmt.Sprintf("r%d", n)
	}
	close(next)
	for range 8 {
		asking.Go(func() {
			for id := range next {
				a, err := d.Match(ctx, Ask{id, 1, "a", "m", 0})
				if err != nil {
					continue
				}
				mu.Lock()
				if answers[id] = a; len(answers) == 6 {
					cut()
					time.AfterFunc(300*time.Millisecond, cancel) // what hangs was sent by then, or never is
				}
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return answers
}

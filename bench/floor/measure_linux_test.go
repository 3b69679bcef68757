package floor

import (
	"context"
	"errors"
	"testing"
	"time"
)

// The loop carries the traffic that it is given: datagrams from and to every address, all authentic,
// in the numbers, lengths and runs asked for; each part costs CPU time.
func TestLoop(t *testing.T) {
	traffic := Traffic{In: 150.5, Out: 70.25, BytesIn: 90, BytesOut: 700, Clients: 300, Run: 2.5}
	s, err := openServer(traffic)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	crowd, err := openClients(traffic, s)
	if err != nil {
		t.Fatal(err)
	}
	defer crowd.close()
	var sealer sealer
	perClient, datagrams := map[int]int{}, 0
	crowd.took = func(buffer []byte, from [4]byte) {
		if from != [4]byte{127, 0, 0, 1} {
			t.Fatalf("from %v", from)
		}
		for ; len(buffer) > 0; datagrams++ { // a GRO buffer has datagrams of one length
			datagram := buffer[:700]
			buffer = buffer[700:]
			found := false
			for i := range s.clients { // the address that it came to is the key that opens it
				if sealer.open(s.clients[i].send, append([]byte{}, datagram...)) {
					perClient[i]++
					found = true
					break
				}
			}
			if !found {
				t.Fatal("a datagram that no client can open")
			}
		}
	}
	l := loop{clients: crowd, in: spread{mean: 150.5}, out: spread{mean: 70.25}, orders: make(chan int), results: make(chan result)}
	go s.serve(nil, l.orders, l.results)
	defer close(l.orders)
	if r := <-l.results; r.err != nil {
		t.Fatal(r.err)
	}
	cost, err := l.sample(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if datagrams != 351 || len(perClient) < 351/3 || len(perClient) > 351/2+minTurns {
		t.Errorf("%d datagrams to %d clients in %d turns, want 351 in runs of 2 and 3", datagrams, len(perClient), minTurns)
	}
	for i, part := range []float64{cost.Receive, cost.Open, cost.Seal, cost.Send} {
		if !(part > 0) {
			t.Errorf("part %d took no CPU time: %+v", i, cost)
		}
	}
}

// More datagrams cost more, and so do longer ones. Ratios of CPU time are compared.
func TestMeasure(t *testing.T) {
	measure := func(traffic Traffic) Cost {
		samples, err := Measure(t.Context(), traffic, Config{Samples: 5, Time: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		c, least, most := Median(samples)
		if len(samples) != 5 || !(least > 0 && least <= c.Total() && c.Total() <= most) {
			t.Errorf("%d samples, %g to %g, median %g", len(samples), least, most, c.Total())
		}
		return c
	}
	few := measure(Traffic{In: 60, Out: 20, BytesIn: 80, BytesOut: 200, Clients: 60, Run: 1})
	many := measure(Traffic{In: 600, Out: 200, BytesIn: 80, BytesOut: 200, Clients: 600, Run: 1})
	if r := many.Total() / few.Total(); r < 4 || r > 25 {
		t.Errorf("ten times the datagrams cost %.1f times as much: %+v, %+v", r, few, many)
	}
	long := measure(Traffic{In: 60, Out: 200, BytesIn: 80, BytesOut: 1200, Clients: 600, Run: 1})
	if r := long.Seal / many.Seal; r < 1.3 {
		t.Errorf("six times the bytes take %.2f times as long to seal", r)
	}
}

// Traffic beyond the sockets' buffers is played in parts, and costs as much in all.
func TestMeasureInParts(t *testing.T) {
	samples, err := Measure(t.Context(), Traffic{In: 9000, Out: 9000, BytesIn: 60, BytesOut: 60, Clients: 2000, Run: 3},
		Config{Samples: 1, Time: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	// A datagram takes 100 ns at the very least, whatever the machine.
	if total := samples[0].Total(); total < 9000*2*100 {
		t.Errorf("18000 datagrams took %g ns", total)
	}
}

func TestMeasureEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fine := Traffic{In: 1, Out: 1, BytesIn: 20, BytesOut: 20, Clients: 1, Run: 1}
	if _, err := Measure(ctx, fine, Config{Samples: 1, Time: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Measure(t.Context(), fine, Config{Server: []int{1 << 20}, Samples: 1}); err == nil {
		t.Error("pinned to a processor that no machine has")
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// floodPlayers is the number of players in BenchmarkFloodLobby.
const floodPlayers = 200

// asNaive makes this test binary the naive server of BenchmarkFloodLobby.
const asNaive = "TICKRATE_TEST_AS_NAIVE"

// naiveConn is a naive socket: a goroutine reads one datagram a call into a channel as long as our
// ring, with the default socket buffers.
type naiveConn struct {
	udp *net.UDPConn
	in  chan netio.Datagram
}

func (c *naiveConn) read() {
	defer close(c.in)
	for {
		buf := make([]byte, 2048)
		n, from, err := c.udp.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if n <= netio.MaxDatagram {
			c.in <- netio.Datagram{Addr: from, Data: buf[:n]}
		}
	}
}

func (c *naiveConn) Receive(b *netio.Batch) (int, error) {
	b.Reset()
	for !b.Full() {
		select {
		case d := <-c.in:
			b.Add(d.Data, d.Addr)
		default:
			return b.Len(), nil
		}
	}
	return b.Len(), nil
}

func (c *naiveConn) Send(b *netio.Batch) error {
	for i := range b.Len() {
		d := b.At(i)
		if _, err := c.udp.WriteToUDPAddrPort(d.Data, d.Addr); err != nil {
			return err
		}
	}
	return nil
}

func (c *naiveConn) LocalAddr() netip.AddrPort { return c.udp.LocalAddr().(*net.UDPAddr).AddrPort() }
func (c *naiveConn) Close() error              { return c.udp.Close() }
func (c *naiveConn) Stats() netio.Stats        { return netio.Stats{} }

// serveNaive runs a lobby behind a naiveConn until it is killed. It prints its addresses as serve
// --ready does.
func serveNaive() error {
	key, err := netcode.ParseKey(os.Getenv(keyVariable))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("gen:%d:1", floodPlayers)
	world, err := assets.Map(name)
	if err != nil {
		return err
	}
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	c := &naiveConn{udp, make(chan netio.Datagram, netio.DefaultRingDatagrams)}
	netcodeCfg := netcode.ServerConfig{PrivateKey: key, ProtocolID: protocol.ProtocolID,
		Addresses: []netip.AddrPort{c.LocalAddr()},
		Entropy:   [32]byte{1}, AllowTokenReuse: true, StartUnix: time.Now().Unix(), MaxTokens: 1 << 16}
	lobby, err :=
		server.NewLobby(server.Config{Arena: world, ArenaName: name, Players: floodPlayers,
			Netcode: netcodeCfg})
	if err != nil {
		return err
	}
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var mu sync.Mutex // of the histogram
	wall, began := meter.NewHistogram(0, meter.Fine), time.Now()
	mux := http.NewServeMux()
	mux.Handle("/v1/connect", httpapi.NewConnect(httpapi.ConnectConfig{Key: key,
		ProtocolID: protocol.ProtocolID, Servers: netcodeCfg.Addresses,
		Access: httpapi.Access{Loopback: true}}))
	mux.HandleFunc("POST /stats/reset", func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		wall.Reset()
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		r := metrics.Report{Counts: map[string]uint64{}, Drops: map[string]uint64{},
			Interval: 3, ElapsedMillis: 1000 * time.Since(began).Seconds(),
			CPUMillis: 1000 * clock.ProcessCPU().Seconds()}
		r.TickWall.P99 = float64(wall.Quantile(0.99)) / 1e6
		for i := range metrics.NumCounts {
			r.Counts[i.String()] = lobby.Stats.Count[i].Load()
		}
		for i := range netcode.NumDrops {
			if n := lobby.Stats.AuthDrops[i].Load(); n > 0 {
				r.Drops[i.String()] = n
			}
		}
		_ = json.NewEncoder(w).Encode(r) // the reader has gone: nothing to do
	})
	go func() { _ = http.Serve(web, mux) }() // until killed
	if err := json.NewEncoder(os.Stdout).Encode(ready{c.LocalAddr().String(),
		web.Addr().String(), "", "", os.Getpid(), ""}); err != nil {
		return err
	}
	go c.read()
	period := time.Second / 60
	for start, n := time.Now(), time.Duration(1); ; n++ {
		time.Sleep(time.Until(start.Add(n * period)))
		now := time.Now()
		if err := lobby.Tick(now.Sub(start), now.Unix(), c); err != nil {
			return err
		}
		mu.Lock()
		wall.Record(int64(time.Since(now)))
		mu.Unlock()
	}
}

package client

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
)

// levels are the levels of decoding.
var levels = []struct {
	name   string
	change func(*Config)
}{
	{"full", full},
	{"own", func(c *Config) { c.Decode = DecodeOwn }},
	{"acks", func(c *Config) { c.Decode = DecodeAcks }},
}

func full(*Config) {}

// recording is what one client received and when it moved, for replay by another of the same
// configuration.
type recording struct {
	cfg     Config
	play    []recordedDatagram
	packets [][]byte    // what was sealed in the datagrams, newest last
	server  *testServer // in its last state, for sealing
}

// recordedDatagram is a frame: what arrived before it, and its instant.
type recordedDatagram struct {
	now     time.Duration
	heard   [][]byte
	arrived []time.Duration
}

// record records the datagrams of one client among players that are all visible.
func record(t testing.TB, players int, level func(*Config), d time.Duration, path link) *recording {
	l := newTestServer(t, testServerConfig{seed: 20, players: players, extras: players - 1})
	cfg := l.config()
	cfg.PredictHits = false
	level(&cfg)
	s := l.addClient(cfg, path)
	rec := &recording{cfg: cfg, server: l}
	l.onPacket = func(pkt []byte) { rec.packets = append(rec.packets, slices.Clone(pkt)) }
	var frame recordedDatagram
	s.onDatagram = func(now time.Duration, data []byte) {
		frame.heard = append(frame.heard, slices.Clone(data))
		frame.arrived = append(frame.arrived, now)
	}
	s.afterFrame = func(now time.Duration, _ *testClient) {
		frame.now = now
		rec.play = append(rec.play, frame)
		frame = recordedDatagram{}
	}
	l.run(d)
	return rec
}

// recordedClient replays a recording.
type recordedClient struct {
	recording *recording
	driver    testClient
	at        int
	data      []byte // what is received is decrypted in place, and the recording must last
	poses     bool
	sum       float32 // of what was looked at, so that it is not optimised away
}

func (rec *recording) player(t testing.TB) *recordedClient {
	c, err := New(rec.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &recordedClient{recording: rec, driver: testClient{client: c, brain: wander(0)},
		data: make([]byte, 0, netcode.MaxDatagram), poses: rec.cfg.Decode == DecodeFull}
}

// frame plays one frame; false at the end of the recording.
func (p *recordedClient) frame() bool {
	if p.at == len(p.recording.play) {
		return false
	}
	f := &p.recording.play[p.at]
	p.at++
	c := p.driver.client
	c.PrefetchConn()
	c.Prefetch()
	c.PrefetchRings()
	for i, data := range f.heard {
		p.data = append(p.data[:0], data...)
		c.Receive(f.arrived[i], p.data)
	}
	for range c.Advance(f.now) {
		c.Command(p.driver.brain(p.driver.commands))
		p.driver.commands++
	}
	c.Outgoing(f.now)
	if p.poses {
		for slot := range int(c.welcome.MaxPlayers) {
			pose, _ := c.Pose(slot)
			p.sum += pose.Pos.X
		}
	}
	return true
}

func (p *recordedClient) skip(frames int) {
	for range frames {
		p.frame()
	}
}

// warm is the number of frames before all parts of a client run.
const warm = 120

func TestNoAllocations(t *testing.T) {
	for _, level := range levels {
		for _, judge := range []bool{false, true} {
			rec := record(t, 32, level.change, 6*time.Second, link{delay: 20 * time.Millisecond, loss: 0.02})
			rec.cfg.PredictHits, rec.cfg.Effects = judge, judge
			p := rec.player(t)
			p.skip(warm)
			frames := len(rec.play) - warm - 10
			if n := alloctest.In(frames, func() { p.frame() }); n != 0 {
				t.Errorf("%s, with hits and effects %v: %v allocations a frame", level.name, judge, n)
			}
			if n := alloctest.In(100, func() { p.driver.client.Stats() }); n != 0 {
				t.Errorf("Stats: %v allocations", n)
			}
			if n := alloctest.In(100, func() { // what a screen asks besides
				c := p.driver.client
				c.Present(Intent{MoveMag: 255, Buttons: sim.Fire | sim.Jump})
				c.Clocks()
				c.Jitter()
				c.NextEvent()
				for slot := range 32 {
					c.PresentedPose(slot)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations a picture", level.name, n)
			}
			st, effects := p.driver.client.Stats(), p.driver.client.Effects.Stats()
			heard := effects.Kinds[effect.Impact] > 0 && effects.Kinds[effect.Footstep] > 0
			if judge && rec.cfg.Decode == DecodeFull && !heard {
				t.Errorf("%s: no effects were heard: %v", level.name, effects)
			}
			if st.Snapshots < 80 || (st.Shots == 0) != (rec.cfg.Decode == DecodeAcks) ||
				st.Undecoded != 0 || st.Datagrams.Dropped() > 5 || st.Packets.Dropped() > 0 {
				t.Errorf("the recording did not play: %+v", st)
			}
		}
	}
}

// BenchmarkTick measures a client frame at 60 Hz with 64 visible players and three frames per
// snapshot: decode, predict, interpolate, write the packet. A second client of the same lobby
// decodes its own rows only.
func BenchmarkTick(b *testing.B) {
	for _, c := range levels {
		b.Run(c.name, func(b *testing.B) {
			rec := record(b, 64, c.change, 12*time.Second, link{delay: 20 * time.Millisecond})
			p := rec.player(b)
			p.skip(warm)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if !p.frame() {
					b.StopTimer()
					p = rec.player(b)
					p.skip(warm)
					b.StartTimer()
				}
			}
			if st := p.driver.client.Stats(); st.Snapshots < 20 || st.Undecoded != 0 ||
				st.Prediction.Rows < 20 && rec.cfg.Decode != DecodeAcks {
				b.Fatalf("the recording did not play: %+v", st)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/tick")
		})
	}
}

// BenchmarkManyClients measures the tick of one of a thousand clients with DecodeAcks that take
// turns, as in a swarm, so that the caches are cold. Sockets are not included.
func BenchmarkManyClients(b *testing.B) {
	for _, c := range levels[1:] {
		b.Run(c.name, func(b *testing.B) {
			rec := record(b, 64, c.change, 8*time.Second, link{delay: 20 * time.Millisecond})
			clients := make([]*recordedClient, 1000)
			begin := func() {
				for i := range clients {
					clients[i] = rec.player(b)
					clients[i].skip(warm)
				}
				runtime.GC()
			}
			begin()
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if !clients[i%len(clients)].frame() {
					b.StopTimer()
					begin()
					b.StartTimer()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/tick")
		})
	}
}

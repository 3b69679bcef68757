//go:build !portable

package netio

import "testing"

func TestSocketBuffersAreReported(t *testing.T) {
	for _, b := range backEnds[:3] {
		t.Run(b.name, func(t *testing.T) {
			c := mustListen(t, b.listen, "127.0.0.1:0", Config{SocketBuffer: 1 << 18})
			small := c.Stats().ReceiveBuffer
			d := mustListen(t, b.listen, "127.0.0.1:0", Config{})
			if large := d.Stats().ReceiveBuffer; small < 1<<17 || large <= small {
				t.Fatalf("receive buffers of %d and %d bytes reported", small, large)
			}
		})
	}
}

package session

import (
	"fmt"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Conn is a netcode.Client on a UDP socket.
type Conn struct {
	Netcode *netcode.Client // its session; the Conn receives and sends for it
	*socket
}

// Dial opens a UDP socket for the session of a connect token. It does not wait: Poll brings the
// session up, and Connected tells when it is.
func Dial(token []byte) (*Conn, error) {
	client := netcode.NewClient(token, netcode.ClientConfig{Roam: true, Nearest: true})
	if err := client.Err(); err != nil {
		return nil, fmt.Errorf("session: dial: %w", err)
	}
	s, err := open(":0")
	if err != nil {
		return nil, err
	}
	return &Conn{client, s}, nil
}

// Connected reports whether the session is up.
func (c *Conn) Connected() bool { return c.Netcode.State() == netcode.Connected }

// Poll takes what has arrived and what time has brought, and calls each with the server's payloads,
// which are valid until each returns. It never waits. The error is a netcode.StateError once the session
// or the attempt is over: of netcode.Disconnected if the server has ended it.
func (c *Conn) Poll(each func(payload []byte)) error {
	now := c.Now()
	err := c.receive(func(d netio.Datagram) {
		if payload, drop := c.Netcode.Receive(now, d.Addr, d.Data, &c.queue); drop == nil && payload != nil {
			each(payload)
		}
	})
	c.Netcode.Update(now, &c.queue)
	if state := c.Netcode.State(); err == nil && state <= netcode.Disconnected {
		err = netcode.StateError(state)
	}
	return err
}

// Send queues a payload for the server, 1 to netcode.MaxPayload bytes. Flush sends it.
func (c *Conn) Send(payload []byte) error { return c.Netcode.Send(c.Now(), payload, &c.queue) }

// Close ends the session, tells the server and releases the port.
func (c *Conn) Close() error {
	c.Netcode.Disconnect(c.Now(), &c.queue)
	return c.close()
}

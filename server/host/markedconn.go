package host

import (
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server/host/capture"
)

// markedConn is a socket whose reads and writes are marked for captures. It belongs to a worker.
type markedConn struct {
	netio.Conn
	thread *capture.Thread
}

// Receive is that of the socket.
func (c markedConn) Receive(b *netio.Batch) (n int, err error) {
	c.thread.Receive()
	n, err = c.Conn.Receive(b)
	c.thread.Called(n)
	return n, err
}

// Send is that of the socket.
func (c markedConn) Send(b *netio.Batch) error {
	c.thread.Send()
	err := c.Conn.Send(b)
	c.thread.Called(b.Len())
	return err
}

//go:build !linux || portable

package netio

// ListenGnet and ListenMmsg are ListenNet here: recvmmsg and sendmmsg are Linux's.
func ListenGnet(addr string, cfg Config) (Conn, error) { return ListenNet(addr, cfg) }

// ListenMmsg is ListenNet here, see ListenGnet.
func ListenMmsg(addr string, cfg Config) (Conn, error) { return ListenNet(addr, cfg) }

// Package impair is a bad link in virtual time. Datagrams and the instants of their sending go in; the same datagrams
// come out late, twice, out of order, or never, as a seed decides. It reads no clock and opens no socket: one seed, one
// fate. Conn puts such a link in front of any netio.Conn.
package impair

// Package netcode implements both halves of netcode 1.02, the public standard for clients and
// servers that trust a token instead of each other. Datagrams and their arrival times go in;
// opened payloads, events and datagrams to send come out. A value belongs to one goroutine. The
// package opens no socket, starts no goroutine and reads no clock.
//
// A backend that shares a private Key with the servers mints a token for a client. The client
// sends the sealed half of the token, answers a challenge and gets a slot. From then on every
// datagram is sealed with keys from the token. A client without a token gets no answer
// but to a ping.
//
//	client                            server
//	request, 1078 B  ─────────────▶   opens the token, remembers its keys for this address
//	                 ◀─────────────   challenge, 333 B
//	response         ─────────────▶   fills a slot
//	                 ◀─────────────   keep-alive: index and number of slots
//	payload, keep-alive ◀─────────▶   payload, keep-alive: at least ten a second each way
//	                 ◀─────────────▶  disconnect, ten times
//
// A sealed datagram, little-endian throughout:
//
//	1    prefix     n<<4 | kind
//	n    sequence   1 to 8 bytes, the nonce; high zero bytes are left out
//	...  body       ChaCha20-Poly1305; version, protocol id and prefix are authenticated with it
//	16   tag
//
// The extensions do not affect other implementations. A token is good for one session: a server
// refuses a token that was used, also after a restart, by a journal of used tokens or by refusing
// tokens issued before its start. Opening tokens has a budget, which grows with the time that the
// owner has to spare. A new token takes over the slot of the same client's silent session. The
// replay window has 1024 sequences. A client that knows datagram kind 7 keeps its session when its
// address changes. Of several servers that a token names, a client may ping all and dial the nearest.
package netcode

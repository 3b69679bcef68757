// Package netcode is netcode 1.02, the public standard for clients and servers that trust a token instead of each other,
// in its server and client halves. Datagrams and the time of their arrival go in; opened payloads, events and datagrams
// to send come out. It opens no socket, starts no goroutine and reads no clock. A value belongs to one goroutine.
//
// A backend that shares a private Key with the servers mints a token for a client. The client sends the sealed half of
// it, gets a challenge, answers it, and is let in; from then on every datagram is sealed with keys that were in
// the token. Who has no token gets no byte in answer.
//
//	client                            server
//	request, 1078 B  ─────────────▶   opens the token, remembers its keys for this address
//	                 ◀─────────────   challenge, 333 B
//	response         ─────────────▶   fills a slot
//	                 ◀─────────────   keep-alive: index and number of slots
//	payload, keep-alive ◀─────────▶   payload, keep-alive: at least ten datagrams a second each way
//	                 ◀─────────────▶  disconnect, ten times
//
// A sealed datagram, little-endian throughout:
//
//	1    prefix     n<<4 | kind
//	n    sequence   1 to 8 bytes, the nonce; high zero bytes are left out
//	...  body       ChaCha20-Poly1305; version, protocol id and prefix are authenticated with it
//	16   tag
//
// What goes beyond the standard is invisible to its other implementations: a token is good for one session in its
// whole life, also when the server is killed if it keeps a journal, openings of tokens are budgeted, a fresh token takes over the slot of a silent session of the same
// client, replays are refused over 1024 sequences, and a client that knows datagram kind 7 keeps its session when its
// address changes.
package netcode

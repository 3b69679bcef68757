// Package session has netcode sessions on a UDP socket: what a program writes around package netcode
// if it has no event loop of its own. Payloads go in; sealed datagrams leave. Listen makes a server,
// Dial a client. Nothing waits and no goroutine is started: the owner calls Poll, Send and Flush in
// every tick. One goroutine owns a value.
//
//	server, err := session.Listen("127.0.0.1:0", netcode.ServerConfig{})
//	token, err := server.Token(7)      // a backend hands it to a player, over TLS
//	client, err := session.Dial(token)
//	for tick := range ticks {
//	    err = server.Poll(func(e netcode.Event) { ... })
//	    err = server.Send(client, payload)
//	    err = server.Flush()
//	}
//
// A server for the internet has more: sockets by netio.ListenGnet, sessions in batches (package
// server), tokens from a backend that shares a key (netcode.Mint). This package is netio.ListenMmsg and
// netcode with their defaults.
package session

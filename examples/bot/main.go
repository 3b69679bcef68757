// Command bot is a whole player in thirty lines: a token from a server's HTTP port, a UDP socket,
// and client.Client between the two. It runs in circles and shoots until it has fired a hundred
// shots.
//
//	tickrate serve &
//	go run ./examples/bot 127.0.0.1:7914
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/sim"
)

// play joins the lobby of a token, plays until the client has fired a number of shots, and leaves.
// Datagrams and times go into the client; datagrams, events and the view come out of it.
func play(token []byte, shots uint64) (*client.Client, error) {
	bot, err := client.New(client.Config{Token: token, Name: "circles", Fetch: true})
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	intent := client.Intent{MoveMag: 255, Buttons: sim.Sprint | sim.Fire}
	datagram, begun := make([]byte, 2048), time.Now()
	for state, _ := bot.State(); state <= client.Joined; state, _ = bot.State() {
		socket.SetReadDeadline(time.Now().Add(4 * time.Millisecond))
		n, err := socket.Read(datagram)
		if now := time.Since(begun); err == nil {
			bot.Receive(now, datagram[:n]) // datagrams of others do not decrypt
		} else if bot.Stats().Shots >= shots {
			bot.Leave(now)
		}
		for range bot.Advance(time.Since(begun)) {
			intent.Yaw += 400 // a circle in 164 ticks
			bot.Command(intent)
		}
		for say, i := bot.Outgoing(time.Since(begun)), 0; i < say.Len(); i++ {
			to, data := say.At(i)
			socket.WriteToUDPAddrPort(data, to)
		}
	}
	return bot, bot.Err()
}

func main() {
	server := "127.0.0.1:7914"
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	token, err := requestToken(server)
	if err == nil {
		var bot *client.Client
		if bot, err = play(token, 100); err == nil {
			var graph client.Grapher
			fmt.Println(graph.Take(bot))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// requestToken asks a server for a connect token.
func requestToken(server string) ([]byte, error) {
	reply, err := http.Post("http://"+server+"/v1/connect", "", nil)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("no token from %s: %s", server, reply.Status)
	}
	var has struct{ Token []byte }
	err = json.NewDecoder(reply.Body).Decode(&has)
	return has.Token, err
}

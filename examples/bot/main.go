// Command bot is a whole player in thirty lines: a token from a server's HTTP port, a UDP socket,
// and client.Client between the two. It runs in circles and shoots until it has fired a hundred
// rounds.
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

// play joins the lobby that a token is for, plays until so many rounds are fired, and leaves. Bytes
// and times go into the client; bytes, events and what is to be seen come out of it.
func play(token []byte, rounds uint64) (*client.Client, error) {
	bot, err := client.New(client.Config{Token: token, Name: "circles", Fetch: true})
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	wish := client.Intent{MoveMag: 255, Buttons: sim.Sprint | sim.Fire}
	datagram, begun := make([]byte, 2048), time.Now()
	for state, _ := bot.State(); state <= client.Joined; state, _ = bot.State() {
		socket.SetReadDeadline(time.Now().Add(4 * time.Millisecond))
		n, err := socket.Read(datagram)
		if now := time.Since(begun); err == nil {
			bot.Receive(now, datagram[:n]) // what is not the server's does not open
		} else if bot.Stats().Shots >= rounds {
			bot.Leave(now)
		}
		for range bot.Advance(time.Since(begun)) {
			wish.Yaw += 400 // a circle in 164 ticks
			bot.Command(wish)
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
	token, err := ticket(server)
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

// ticket asks a server for a token.
func ticket(server string) ([]byte, error) {
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

// The entry that serve keeps for tickrate query --local.

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/local"
)

// localEvery is the time between two writes of an entry.
const localEvery = 2 * time.Second

// listLocally keeps an entry of a host until stop is called. A host that cannot have one says why, and
// plays without.
func (s *serveSettings) listLocally(r runningHost) (stop func()) {
	h, ok := r.(*host.Host)
	if !ok || !s.query.local {
		return func() {}
	}
	e, err := local.Open(local.Folder(), fmt.Sprintf("%d-%d", os.Getpid(), h.Addr().Port()))
	if err != nil {
		fmt.Fprintf(os.Stderr, "not listed for tickrate query --local: %v\n", err)
		return func() {}
	}
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(localEvery)
		defer tick.Stop()
		started := time.Now()
		for next := started; ; {
			if err := e.Write(s.localEntry(h, started, next)); err != nil {
				fmt.Fprintf(os.Stderr, "not listed for tickrate query --local: %v\n", err)
				return
			}
			select {
			case <-ending:
				return
			case next = <-tick.C:
			}
		}
	}()
	return func() {
		close(ending)
		<-ended
		_ = e.Close() // a reader removes what is left
	}
}

// localEntry is what the host says of itself.
func (s *serveSettings) localEntry(h *host.Host, started, now time.Time) local.Server {
	e := local.Server{PID: os.Getpid(), Started: started.UTC(), Updated: now.UTC(), Name: s.query.name,
		UDP: h.Addr().String(), HTTP: h.HTTPAddr(), Query: h.QueryAddr(), Lobbies: []local.Lobby{}}
	for _, l := range h.Load().Lobbies {
		e.Lobbies = append(e.Lobbies, local.Lobby{ID: l.ID, Map: l.Map, Mode: l.Mode, Players: l.Players, Slots: l.Slots})
	}
	return e
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// Receipt is what one shot leaves: see lagcomp.
type Receipt = lagcomp.ShotRecord

// ShotList is the answer of GET /v1/shots.
type ShotList struct {
	Rate  int       `json:"rate_hz"`
	Count uint64    `json:"count"` // shots of the match until now; the ring holds the last of them
	Shots []Receipt `json:"shots"` // oldest first
}

// shotAsk asks the goroutine that plays ticks for receipts.
type shotAsk struct {
	since uint64
	most  int
	reply chan ShotList // has room for one
}

// ErrNoReceipts is what a host says that writes none.
var ErrNoReceipts = errors.New("this server keeps no receipts of shots: start it with --receipts")

// errEnded is what a host says that is no more.
var errEnded = errors.New("the lobby has ended")

// Shots returns receipts behind a number, oldest first, of which no more than the newest most, or all if that is 0. It waits for the next
// tick. Any goroutine but that of Run may call it.
func (h *Host) Shots(ctx context.Context, since uint64, most int) (ShotList, error) {
	if h.lobby.rewind.log == nil {
		return ShotList{}, ErrNoReceipts
	}
	ask := shotAsk{since, most, make(chan ShotList, 1)}
	select {
	case h.shots <- ask:
	case <-ctx.Done():
		return ShotList{}, ctx.Err()
	case <-h.terminal.ended:
		return ShotList{}, errEnded
	}
	return <-ask.reply, nil // it is being answered
}

// handShots answers one who asks for receipts. It is for the goroutine that plays the ticks, between two.
func (h *Host) handShots() {
	select {
	case ask := <-h.shots:
		r := h.lobby.rewind.log
		ask.reply <- ShotList{int(h.lobby.cfg.Rules.Rate), r.Count(), r.Since(ask.since, ask.most, []Receipt{})}
	default:
	}
}

// serveShots gives receipts as JSON, for those who may use the console: they tell where people are.
//
//	last      so many of the newest are looked at; default all there are
//	since     those behind this number
//	number    the one alone
//	shooter   net id
//	victim    net id of the subject
//	verdict   miss, wall, object, hit, unseen, no-history; may be repeated
//	clamp     none, nothing-sent, no-view, ahead, span, rtt, acks, cap, history, backwards, any; may be repeated
//	from, to  ticks
func (h *Host) serveShots(w http.ResponseWriter, r *http.Request) {
	f, since, last, err := parseShots(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patienceHTTP)
	defer cancel()
	s, err := h.Shots(ctx, since, last)
	switch {
	case errors.Is(err, ErrNoReceipts):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	kept := s.Shots[:0]
	for i := range s.Shots {
		if f.Matches(&s.Shots[i]) {
			kept = append(kept, s.Shots[i])
		}
	}
	s.Shots = kept
	writeJSON(w, s)
}

func parseShots(q url.Values) (f lagcomp.ShotFilter, since uint64, last int, err error) {
	number := func(name string, bits int) uint64 {
		text := q.Get(name)
		if text == "" || err != nil {
			return 0
		}
		n, bad := strconv.ParseUint(text, 10, bits)
		if bad != nil {
			err = fmt.Errorf("%s=%.20q: expected a number", name, text)
		}
		return n
	}
	f.Shooter, f.Subject = uint32(number("shooter", 32)), uint32(number("victim", 32))
	f.From, f.To = tick.Tick(number("from", 32)), tick.Tick(number("to", 32))
	f.Number, since, last = number("number", 64), number("since", 64), int(number("last", 31))
	for _, name := range q["verdict"] {
		err = errors.Join(err, f.AddVerdict(name))
	}
	for _, name := range q["clamp"] {
		err = errors.Join(err, f.AddClamp(name))
	}
	return f, since, last, err
}

package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/server"
)

// ShotList is the answer of GET /v1/shots.
type ShotList struct {
	Version int `json:"version"`
	Rate    int `json:"rate_hz"` // ticks a second, for the ticks of Shots
	// shots of the match until now; the log holds the newest of them
	Count uint64               `json:"count"`
	Shots []lagcomp.ShotRecord `json:"shots"` // oldest first
}

// ErrNoShotLog is the answer of a server that records no shots.
var ErrNoShotLog = errors.New("this server keeps no shot log: start it with --shot-log")

// serveShots answers records of shots as JSON. It needs the secret: shots tell where players are.
//
//	last      looks at the newest of them; default all
//	since     numbers above this one
//	number    this one alone
//	shooter   net id
//	victim    net id of the target
//	verdict   miss, wall, object, hit, unseen, no-history; may be repeated
//	clamp     none, nothing-sent, no-view, ahead, span, rtt, acks, cap, history, backwards, any;
//	          may be repeated
//	from, to  ticks
func (a *api) serveShots(w http.ResponseWriter, r *http.Request) {
	f, since, last, err := parseShots(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if a.Lobby.ShotLog() == nil {
		http.Error(w, ErrNoShotLog.Error(), http.StatusNotFound)
		return
	}
	list := ShotList{Version: Version}
	if !a.do(w, r, func(_ time.Duration, l *server.Lobby) {
		log := l.ShotLog()
		list.Rate, list.Count, list.Shots = int(l.Config().Rules.Rate), log.Count(), log.Since(since,
			last, []lagcomp.ShotRecord{})
	}) {
		return
	}
	kept := list.Shots[:0]
	for i := range list.Shots {
		if f.Matches(&list.Shots[i]) {
			kept = append(kept, list.Shots[i])
		}
	}
	list.Shots = kept
	writeJSON(w, list)
}

// parseShots reads the query of GET /v1/shots. A last of 0 means all. Its errors name the
// parameter.
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

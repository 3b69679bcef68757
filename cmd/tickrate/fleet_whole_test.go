package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/fleet/agones"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/fleet/director"
	"github.com/tickrate/tickrate/netio/packet"
)

// wholeFleet is a fleet of processes on this machine: two directors, four hosts behind bad links,
// an SDK server of Agones, the autoscaler and three swarms.
type wholeFleet struct {
	t         *testing.T
	begun     time.Time
	key       string // file
	nats      string // URL
	directors []string
	processes []*exec.Cmd // of the directors
	hosts     []*wholeHost
	crowds    []*wholeCrowd
	asked     atomic.Int64 // of the directors: requests
	report    strings.Builder
}

// wholeHost is a host and the process that impairs its datagrams.
type wholeHost struct {
	name string
	cmd  *exec.Cmd
	errs *bytes.Buffer
	http string
}

// wholeCrowd is a swarm, which plays on a goroutine of its own.
type wholeCrowd struct {
	swarm                 *swarm.Swarm
	joined, told, moved   atomic.Int64 // players: in a match, ended with a reason, moved at least once
	stop                  atomic.Bool
	done                  chan error
	reasons               map[string]int // of those that were told; set when done
	mispredicted, missing uint64
}

// say adds a line to the report.
func (f *wholeFleet) say(format string, args ...any) {
	f.t.Helper()
	line := fmt.Sprintf("%5.1f s  ", time.Since(f.begun).Seconds()) + fmt.Sprintf(format, args...)
	f.report.WriteString(line + "\n")
}

// until waits for a condition.
func (f *wholeFleet) until(what string, limit time.Duration, holds func() bool) {
	f.t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			for _, h := range f.hosts {
				f.t.Logf("%s: %s", h.name, h.errs)
			}
			f.t.Fatalf("not within %v: %s\n%s", limit, what, &f.report)
		}
	}
}

// startDirector starts a director and returns where it answers.
func (f *wholeFleet) startDirector() {
	cmd := command(f.t, "fleet", "director", "--fleet-key", f.key, "--nats", f.nats, "--http", "127.0.0.1:0")
	_, lines := started(f.t, cmd, regexp.MustCompile(`matches: POST \S+\n`))
	f.processes = append(f.processes, cmd)
	f.directors = append(f.directors, regexp.MustCompile(`http://(\S+)/v1/match`).FindStringSubmatch(lines)[1])
}

// startHost starts a host with eight lobbies of eight, which its players reach over a mobile link
// each way. The first one is a game server of Agones.
func (f *wholeFleet) startHost(sdk string) {
	name, listen := fmt.Sprintf("host-%d", len(f.hosts)), freePort(f.t)
	link := command(f.t, "impair", "--to", listen, "--profile", "mobile", "--seed", fmt.Sprint(len(f.hosts)+1))
	_, lines := started(f.t, link, regexp.MustCompile(`clients to udp \S+,`))
	public := regexp.MustCompile(`clients to udp (\S+),`).FindStringSubmatch(lines)[1]
	cmd := command(f.t, "serve", "--ready", "--players", "8", "--map", "arena-16", "--lobbies", "8:18",
		"--prefault=false", "--listen", listen, "--public-addr", public, "--http", "127.0.0.1:0", "--drain-for", "1m",
		"--fleet", f.nats, "--fleet-key", f.key, "--fleet-name", name)
	if sdk != "" {
		cmd.Env = append(cmd.Env, agones.PortVariable+"="+sdk)
	}
	h := &wholeHost{name: name, cmd: cmd, errs: &bytes.Buffer{}}
	var r ready
	h.cmd, r = readyServer(f.t, cmd)
	h.errs, h.http = cmd.Stderr.(*bytes.Buffer), r.HTTP
	f.hosts = append(f.hosts, h)
}

// stats are the figures of a director that answers.
func (f *wholeFleet) stats() (s director.Stats, ok bool) {
	for _, at := range f.directors {
		resp, err := http.Get("http://" + at + "/stats")
		if err != nil {
			continue
		}
		err = errors.Join(json.NewDecoder(resp.Body).Decode(&s), resp.Body.Close())
		if err == nil {
			return s, true
		}
	}
	return s, false
}

// token asks the directors in turn for a place.
func (f *wholeFleet) token(id string) ([]byte, error) {
	ask, _ := json.Marshal(director.Ask{RequestID: id, Players: 1, Map: "arena-16", Mode: "deathmatch"})
	var err error
	for range 2 * len(f.directors) {
		at := f.directors[int(f.asked.Add(1))%len(f.directors)]
		var resp *http.Response
		if resp, err = http.Post("http://"+at+"/v1/match", "application/json", bytes.NewReader(ask)); err != nil {
			continue // the director is dead: the other has the same answer
		}
		var a director.Answer
		err = errors.Join(json.NewDecoder(resp.Body).Decode(&a), resp.Body.Close())
		if err == nil && len(a.Tokens) == 1 {
			return a.Tokens[0].Token, nil
		}
		err = fmt.Errorf("%s: %s, %w", id, resp.Status, err)
	}
	return nil, err
}

// startCrowd lets players play until stop.
func (f *wholeFleet) startCrowd(players int) {
	n := len(f.crowds)
	c := &wholeCrowd{done: make(chan error, 1), reasons: map[string]int{}}
	f.crowds = append(f.crowds, c)
	opened := make(chan error)
	go func() {
		var err error
		c.swarm, err = swarm.Open(swarm.Config{Players: players, Seed: uint64(n + 1), Choose: true, Arrival: 2 * time.Second,
			Token: func(i int) ([]byte, error) { return f.token(fmt.Sprintf("crowd-%d-%d", n, i)) }})
		opened <- err
		if err != nil {
			return
		}
		_ = c.swarm.Run(context.Background(), time.Hour, func() bool { c.count(players); return c.stop.Load() })
		for i := range players {
			p := c.swarm.Client(i)
			if s, why := p.State(); s > client.Joined {
				c.reasons[why.String()]++
			}
			c.mispredicted += p.Stats().Prediction.Mispredictions
			c.missing += p.Stats().InputsMissing
		}
		c.done <- c.swarm.Close()
	}()
	if err := <-opened; err != nil {
		f.t.Fatal(err)
	}
}

// count counts the players by state. It is called once a tick.
func (c *wholeCrowd) count(players int) {
	var joined, told, moved int64
	for i := range players {
		switch s, _ := c.swarm.Client(i).State(); {
		case s == client.Joined:
			joined++
		case s > client.Joined:
			told++
		}
		if c.swarm.Client(i).Stats().Moves > 0 {
			moved++
		}
	}
	c.joined.Store(joined)
	c.told.Store(told)
	c.moved.Store(moved)
}

// sums are the players of all crowds by state.
func (f *wholeFleet) sums() (joined, told, moved int) {
	for _, c := range f.crowds {
		joined, told, moved = joined+int(c.joined.Load()), told+int(c.told.Load()), moved+int(c.moved.Load())
	}
	return joined, told, moved
}

// players are the players of a host by its own word.
func (h *wholeHost) players() (n int) {
	var list struct{ Lobbies []struct{ Players int } }
	resp, err := http.Get("http://" + h.http + "/v1/lobbies")
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_ = json.NewDecoder(resp.Body).Decode(&list)
	for _, l := range list.Lobbies {
		n += l.Players
	}
	return n
}

// A whole fleet on one machine, offline: 200 players find their matches over bad links; a director
// is killed; a host drains and its matches move; a host is killed. In the end every player is in a
// match, or was told why not.
func TestWholeFleet(t *testing.T) {
	if os.Getenv("TICKRATE_FLEET") == "" {
		t.Skip("a minute, and all of this machine: make fleet")
	}
	const players = 200
	setMinProcs(8)
	f := &wholeFleet{t: t, begun: time.Now(), key: filepath.Join(t.TempDir(), "fleet.key")}
	if err := os.WriteFile(f.key, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := bus.Open(bus.Config{Name: "nats", Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	f.nats = b.URL()
	f.startDirector()
	f.startDirector()
	fake := command(t, "agones", "fake", "--listen", "127.0.0.1:0")
	_, lines := started(t, fake, regexp.MustCompile(`SDK server: http://\S+\n`))
	sdk := regexp.MustCompile(`SDK server: http://(\S+)`).FindStringSubmatch(lines)[1]
	f.startHost(sdk[strings.LastIndex(sdk, ":")+1:])
	for range 3 {
		f.startHost("")
	}
	scaler := command(t, "fleet", "autoscale", "--per-host", "64", "--director", "http://"+f.directors[1],
		"--listen", "127.0.0.1:0", "--start-up", "2s", "--window", "10s", "--hold", "1s")
	_, lines = started(t, scaler, regexp.MustCompile(`webhook: POST \S+,`))
	webhook := regexp.MustCompile(`webhook: POST (\S+),`).FindStringSubmatch(lines)[1]
	f.until("four hosts with eight lobbies each", waitLimit, func() bool {
		s, ok := f.stats()
		return ok && s.Available == 4 && s.Rooms >= 32
	})
	f.say("two directors, four hosts with eight lobbies each, over impair mobile")

	for _, n := range []int{67, 67, 66} {
		f.startCrowd(n)
	}
	f.until("all players in a match", 2*waitLimit, func() bool { n, _, _ := f.sums(); return n == players })
	f.say("%d players of three swarms are in matches", players)
	if replicas := f.replicas(webhook); replicas < 4 {
		t.Errorf("the autoscaler wants %d hosts for %d players at 64 a host", replicas, players)
	} else {
		f.say("the autoscaler wants %d hosts", replicas)
	}

	_ = f.processes[0].Process.Kill()
	_ = f.processes[0].Wait()
	if _, err := f.token("after-the-director"); err != nil {
		t.Errorf("with one director dead: %v", err)
	}
	f.say("one director was killed; the other one answers")

	f.until("all players in the directors' figures", waitLimit, func() bool {
		n := 0
		for _, h := range f.hosts {
			n += h.players()
		}
		return n == players
	})
	drained := f.fullest(1) // not the first one, which Agones has
	before := drained.players()
	resp, err := http.Post("http://"+drained.http+"/drain", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	left := make(chan error, 1)
	go func() { left <- drained.cmd.Wait() }()
	f.until("the drained host ends", 70*time.Second, func() bool { return len(left) > 0 })
	if err := <-left; err != nil {
		t.Errorf("%s ended with %v: %s", drained.name, err, drained.errs)
	}
	joined, told, moved := f.sums()
	f.say("%s drained: of its %d players %d moved with their matches, %d were told", drained.name, before, moved, told)
	if moved < before*9/10 || joined+told != players {
		t.Errorf("%d of %d players moved; %d in matches, %d told\n%s", moved, before, joined, told, drained.errs)
	}
	for line := range strings.Lines(drained.errs.String()) {
		if strings.Contains(line, "lobby moved") {
			f.report.WriteString("         " + line)
		}
	}

	killed := f.fullest(1)
	before = killed.players()
	_ = killed.cmd.Process.Kill()
	_ = killed.cmd.Wait()
	f.say("%s killed with %d players", killed.name, before)
	f.until("every player in a match or told", 3*waitLimit, func() bool {
		n, m, _ := f.sums()
		s, ok := f.stats()
		return n+m == players && m >= before && ok && s.Hosts == 2
	})
	f.end(players)
	if resp, err := http.Get("http://" + sdk + "/gameserver"); err != nil {
		t.Error(err)
	} else {
		record, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !strings.Contains(string(record), `"rooms"`) || !strings.Contains(string(record), agones.StateReady) {
			t.Errorf("Agones' record of the first host: %s", record)
		}
	}
	endsInTime(t, f.processes[1], syscall.SIGTERM)
	t.Logf("\n%s", &f.report)
}

// end ends the swarms and reports what their players had.
func (f *wholeFleet) end(players int) {
	joined, told, moved := f.sums()
	reasons, mispredicted, missing := map[string]int{}, uint64(0), uint64(0)
	for _, c := range f.crowds {
		c.stop.Store(true)
		if err := <-c.done; err != nil {
			f.t.Error(err)
		}
		for why, n := range c.reasons {
			reasons[why] += n
		}
		mispredicted, missing = mispredicted+c.mispredicted, missing+c.missing
	}
	f.say("of %d players %d are in matches, %d were told why not: %v; %d moved", players, joined, told, reasons, moved)
	f.say("ticks without a command: %d, mispredictions: %d, both with the losses of the links", missing, mispredicted)
	for why, n := range reasons {
		if why == packet.Reason(0).String() {
			f.t.Errorf("%d players were not told why: %q", n, why)
		}
	}
}

// fullest returns the host with the most players, of those from an index on.
func (f *wholeFleet) fullest(from int) (best *wholeHost) {
	most := -1
	for _, h := range f.hosts[from:] {
		if h.cmd.ProcessState != nil {
			continue
		}
		if n := h.players(); n > most {
			best, most = h, n
		}
	}
	return best
}

// replicas asks the autoscaler, as Agones does.
func (f *wholeFleet) replicas(webhook string) int {
	f.t.Helper()
	var answer struct {
		Response struct{ Replicas int } `json:"response"`
	}
	f.until("an answer of the autoscaler", waitLimit, func() bool {
		resp, err := http.Post(webhook, "application/json", strings.NewReader(`{"request": {"uid": "u-1", "name": "n",
			"namespace": "ns", "status": {"replicas": 4, "readyReplicas": 0, "reservedReplicas": 0, "allocatedReplicas": 4}}}`))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(&answer) == nil && answer.Response.Replicas > 3
	})
	return answer.Response.Replicas
}

package host

import (
	"context"
	"errors"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Lobbies move until two workers are even, the one that evens them best first, and none moves if that
// would only swap the loads.
func TestMovesEvenWorkers(t *testing.T) {
	many := slices.Repeat([]float64{0.01}, 60)
	for i, c := range []struct {
		difference float64
		loads      []float64
		want       []int
	}{
		0: {0.3, []float64{0.1, 0.15, 0.2}, []int{1}},
		1: {0.3, []float64{0.6}, nil},          // the other one would be as busy
		2: {0.3, []float64{0.001, 0.001}, nil}, // not worth the moves
		3: {0.3, []float64{0, 0.29, 0.05}, []int{2}},
		4: {0.3, []float64{0.05, 0.05, 0.05, 0.01}, []int{0, 1, 2}},
		5: {0.5, nil, nil},
		6: {0.04, []float64{0.02}, nil},
		7: {0.6, many, []int{0, 1, 2, 3, 4, 5, 6, 7}}, // the rest in the next round
	} {
		if got := chooseMoves(c.difference, slices.Clone(c.loads)); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	if s := []float64{0.2, 0.9, 0.1, 0.9}; busiestOf(s) != 1 || leastOf(s) != 2 {
		t.Errorf("busiest %d, least %d", busiestOf(s), leastOf(s))
	}
}

// moveTo moves a lobby to another worker as the balancer does.
func moveTo(t *testing.T, h *Host, x *hosted, to int) {
	t.Helper()
	if err := h.on(context.Background(), x, func(w *worker, _ time.Duration) {
		x.pace.to = h.workers[to]
		w.depart(x)
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lobby plays on the other worker", func() bool {
		plays := false
		err := h.on(context.Background(), x, func(w *worker, _ time.Duration) { plays = w.index == to })
		return err == nil && plays
	})
}

// The busiest worker gives lobbies away after two seconds, and others only once the effect of that is
// measured. A new lobby goes to the worker with the least load.
func TestBalance(t *testing.T) {
	s := simtest.New(t, server.Config{Players: 2}, 0)
	rates, _, err := ClockConfig{Simulation: 128}.Check()
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{endpoint: &endpoint{sessions: netcode.ServerConfig{Clients: 10}}}
	h.list.Store(new([]*hosted))
	for i := range 3 {
		h.workers = append(h.workers, &worker{host: h, index: i})
	}
	for i, share := range []float64{0.1, 0.1, 0.4} {
		x := &hosted{lobby: s.Lobby, rates: rates, slots: 2, pace: pace{share: share}}
		if i == 1 {
			x.pace.leaving = packet.ReasonClosing
		}
		h.workers[1].loop.lobbies = append(h.workers[1].loop.lobbies, x)
		x.worker.Store(h.workers[1])
		h.publishList(func(list []*hosted) []*hosted { return append(list, x) })
	}
	busy := func(shares ...float64) {
		for i, share := range shares {
			h.workers[i].shares.busy.Store(math.Float64bits(share))
		}
	}
	moving := func() (n int) {
		for _, w := range h.workers {
			n += len(w.departing)
		}
		return n
	}
	second := func(at time.Duration) {
		for _, w := range h.workers {
			w.balance(at)
		}
	}
	busy(0.3, 0.6, 0.4)
	second(3 * time.Second)
	if moving() != 0 {
		t.Error("a lobby moves after one second")
	}
	busy(0.3, 0.35, 0.4)
	second(4 * time.Second)
	busy(0.3, 0.6, 0.4)
	second(5 * time.Second)
	if moving() != 0 {
		t.Error("a lobby moves after an even second")
	}
	h.workers[0].shares.sessions.Store(9)
	second(6 * time.Second)
	if moving() != 0 || h.balanced.Load() != 0 {
		t.Error("a lobby moves to a worker that has no room for its slots")
	}
	h.workers[0].shares.sessions.Store(8)
	second(6 * time.Second)
	list := *h.list.Load()
	if moving() != 1 || list[0].pace.to != h.workers[0] {
		t.Fatalf("%d lobbies move, the first one to %v", moving(), list[0].pace.to)
	}
	busy(0.7, 0.3, 0.3) // as if the first worker were now the busiest
	second(7 * time.Second)
	second(8 * time.Second)
	if moving() != 1 {
		t.Errorf("%d lobbies move before shares are measured anew", moving())
	}
	busy(0.3, 0.3, 0.1)
	if w := h.leastBusy(); w.index != 2 {
		t.Errorf("a new lobby goes to worker %d", w.index)
	}
	busy(0.3, 0.2, 0.25) // about as busy: the one with the fewest slots
	if w := h.leastBusy(); w.index != 0 {
		t.Errorf("a new lobby goes to worker %d", w.index)
	}
}

// A new lobby goes to a worker about as busy as the least busy one, even if each worker is about as
// busy as the next one. Work is known without a look into a lobby, which may play meanwhile.
func TestNewLobbyAvoidsBusyWorkers(t *testing.T) {
	h := &Host{}
	var list []*hosted
	for i, share := range []float64{0.1, 0.24, 0.38, 0.52} {
		w := &worker{host: h, index: i}
		w.shares.busy.Store(math.Float64bits(share))
		h.workers = append(h.workers, w)
		x := &hosted{slots: 10 - i, rates: ClockConfig{Simulation: 60}}
		x.worker.Store(w)
		list = append(list, x)
	}
	h.list.Store(&list)
	if w := h.leastBusy(); w.index != 1 {
		t.Errorf("a new lobby goes to worker %d", w.index)
	}
}

// A lobby that moves keeps its clock, or takes the next instant of a phase with less work.
func TestMovedLobbyKeepsItsClock(t *testing.T) {
	s := simtest.New(t, server.Config{Players: 2}, 0)
	rates, _, err := ClockConfig{Simulation: 128}.Check()
	if err != nil {
		t.Fatal(err)
	}
	lobbyAt := func(l *loop) *hosted {
		x := &hosted{lobby: s.Lobby, rates: rates, slots: 2}
		l.insert(time.Second, x)
		return x
	}
	var from, to loop
	x := lobbyAt(&from)
	due := x.pace.ticks.Due()
	from.remove(x)
	to.adopt(x)
	if x.pace.ticks.Due() != due || to.due[0] != due {
		t.Errorf("due at %v, was %v", x.pace.ticks.Due(), due)
	}
	for range 40 {
		lobbyAt(&to)
	}
	y := lobbyAt(&from)
	y.pace.ticks.Dilate(protocol.FullTimescale / 2)
	to.remove(x)
	for _, other := range to.lobbies {
		other.pace.phase = 0
	}
	due = y.pace.ticks.Due()
	to.adopt(y)
	if later := y.pace.ticks.Due() - due; y.pace.phase == 0 || later < 0 || later > 3*y.pace.ticks.Period() ||
		y.pace.ticks.timescale != protocol.FullTimescale/2 {
		t.Errorf("phase %d, due %v later", y.pace.phase, later)
	}
}

// workersConfig is a host with lobbies on two workers.
func workersConfig(socket string, ahead, most int) (Config, *lockedLog) {
	cfg, log := lobbiesConfig(socket, ahead, most)
	cfg.Lobbies.Workers = 2
	return cfg, log
}

// player is a client that plays on a goroutine of its own until it is told to go.
type player struct {
	got  atomic.Int64 // datagrams
	gone chan packet.Reason
}

// join connects to a lobby and plays.
func join(t *testing.T, h *Host, lobby uint32) *player {
	t.Helper()
	g := dialHost(t, h.Addr(), inLobby(uint64(100+lobby), protocol.LobbyRef{Lobby: lobby}))
	g.until("a welcome", g.welcomed)
	models := h.find(lobby).lobby.Config().Models
	ready := protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(), Model: models.Hash()}
	if err := g.peer.QueueReliable(ready.Append(nil)); err != nil {
		t.Fatal(err)
	}
	p := &player{gone: make(chan packet.Reason, 1)}
	done, stop := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-done; g.Close() })
	go func() {
		defer close(done)
		for sent := time.Now(); ; {
			select {
			case <-stop:
				return
			default:
			}
			if g.step() {
				p.got.Add(1)
			}
			if why, over := g.peer.Closed(); over {
				p.gone <- why
				return
			}
			if time.Since(sent) > 50*time.Millisecond { // silent players are sent away
				sent = time.Now()
				pkt, _ := g.peer.Append(time.Since(g.when), nil)
				pkt = g.peer.AppendReliable(pkt, packet.MaxSectionBytes)
				_ = g.dial.Send(time.Since(g.when), pkt, &g.out) // fails once it is disconnected
			}
		}
	}()
	return p
}

// plays waits for more datagrams.
func (p *player) plays(t *testing.T) {
	t.Helper()
	from := p.got.Load()
	eventually(t, "more datagrams", func() bool { return p.got.Load() > from+10 || len(p.gone) > 0 })
	select {
	case why := <-p.gone:
		t.Fatalf("a player was told to go: %v", why)
	default:
	}
}

// told waits for the reason of the end.
func (p *player) told(t *testing.T) packet.Reason {
	t.Helper()
	select {
	case why := <-p.gone:
		return why
	case <-time.After(waitLimit):
		t.Fatal("a player was not told to go")
		return 0
	}
}

// Lobbies on two workers are reached over the same port and pages, also after they have moved, and
// their players notice nothing.
func TestLobbiesMoveBetweenWorkers(t *testing.T) {
	for _, socket := range []string{"gnet", "mmsg"} {
		t.Run(socket, func(t *testing.T) {
			t.Parallel() // it waits
			moveLobbies(t, socket)
		})
	}
}

// moveLobbies is TestLobbiesMoveBetweenWorkers on one kind of socket.
func moveLobbies(t *testing.T, socket string) {
	t.Helper()
	cfg, log := workersConfig(socket, 4, 5)
	h, stop := running(t, cfg)
	at := "http://" + h.HTTPAddr()
	all := *h.list.Load()
	var on [2]int
	for _, x := range all {
		on[x.worker.Load().index]++
	}
	if on != [2]int{2, 2} {
		t.Errorf("lobbies by worker: %v", on)
	}
	var players []*player
	for id := range all {
		players = append(players, join(t, h, uint32(id)))
	}
	for range 3 { // there and back
		for _, x := range all {
			moveTo(t, h, x, (x.worker.Load().index+1)%2)
		}
		for _, p := range players {
			p.plays(t)
		}
	}
	for _, x := range all {
		if n := x.lobby.Stats.Count[metrics.Joined].Load(); n != 1 {
			t.Errorf("%s: %d joined lobby %s", socket, n, x.name())
		}
	}
	for _, l := range lobbiesOf(t, at).Lobbies {
		if x := h.find(uint32(l.Lobby[0] - '0')); x.worker.Load().index != l.Worker {
			t.Errorf("lobby %s is on worker %d", l.Lobby, l.Worker)
		}
	}
	if status, body := ask(t, "GET", at+"/metrics?full=0"); status != 200 ||
		!strings.Contains(body, `tickrate_worker_lobbies_moved_total{lobby="port0"} 6`) ||
		!strings.Contains(body, `tickrate_worker_lobbies_moved_total{lobby="port1"} 6`) {
		t.Errorf("metrics: %d, %d bytes", status, len(body))
	}
	if status, body := ask(t, "GET", at+"/stats?lobby=port"); status != 200 ||
		!strings.Contains(body, `"socket"`) {
		t.Errorf("figures of the port: %d %s", status, body)
	}
	if status, body := postJSON(t, at+"/v1/console?lobby=3", "say hello"); status != 200 {
		t.Errorf("the console: %d %s", status, body)
	}
	if status, body := postJSON(t, at+"/v1/lobbies", ""); status != http.StatusCreated {
		t.Errorf("one more: %d %s", status, body)
	}
	if status, body := ask(t, "DELETE", at+"/v1/lobbies/2"); status != http.StatusNoContent {
		t.Errorf("end: %d %s", status, body)
	}
	if why := players[2].told(t); why != packet.ReasonClosing {
		t.Errorf("the player of lobby 2 was told %v", why)
	}
	stop()
	for _, id := range []int{0, 1, 3} {
		if why := players[id].told(t); why != packet.ReasonClosing {
			t.Errorf("the player of lobby %d was told %v", id, why)
		}
	}
	if s := log.String(); strings.Contains(s, "goes back") || strings.Contains(s, "not counted once") {
		t.Errorf("the log: %s", s)
	}
}

// A worker leaves a lobby alone once it has given it away: empty lobbies that move after a tick fall
// asleep where they play. The race detector sees any use by the former worker.
func TestMovedLobbyBelongsToItsWorker(t *testing.T) {
	cfg, _ := workersConfig("mmsg", 2, 2)
	cfg.Lobby.SleepWhenEmpty = true
	h, stop := running(t, cfg)
	for range 30 {
		for _, x := range *h.list.Load() {
			to := h.workers[1-x.worker.Load().index]
			if err := h.on(context.Background(), x, func(w *worker, _ time.Duration) {
				timer := x.lobby.Timer()
				onStage := timer.OnStage
				timer.OnStage = func(s metrics.Stage) {
					timer.OnStage = onStage
					x.pace.to = to
					w.depart(x)
					onStage(s)
				}
			}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the lobby moves", func() bool { return x.worker.Load() == to })
		}
	}
	stop()
	for _, w := range h.workers {
		n := 0
		for _, x := range w.loop.lobbies {
			if x.pace.asleep {
				n++
			}
		}
		if n != w.loop.asleep {
			t.Errorf("worker %d counts %d lobbies asleep, %d are", w.index, w.loop.asleep, n)
		}
	}
}

// A lobby that moves while the host stops, to a port without room for it, ends as the others do: its
// player is told, and its recording is complete.
func TestStopWhileALobbyMoves(t *testing.T) {
	cfg, log := workersConfig("mmsg", 2, 2)
	cfg.Files.Recordings = t.TempDir()
	e, err := openEndpoint(&cfg, 1) // one session a port
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{endpoint: e, cfg: cfg, labels: httpapi.NewStageLabels(""), ended: make(chan struct{})}
	h.encoder = newBackground(cfg.Lobbies.most(), h.lateFault)
	h.list.Store(new([]*hosted))
	if err := h.open(); err != nil {
		t.Fatal(err)
	}
	stop := runningOf(t, h.Run)
	players := []*player{join(t, h, 0), join(t, h, 1)}
	x := (*h.list.Load())[0]
	_ = h.on(context.Background(), x, func(w *worker, _ time.Duration) {
		x.pace.to = h.workers[1-w.index]
		w.depart(x)
		h.stop()
	})
	stop()
	for id, p := range players {
		if why := p.told(t); why != packet.ReasonClosing {
			t.Errorf("the player of lobby %d was told %v", id, why)
		}
	}
	if files, err := recordings(t, cfg.Files.Recordings); err != nil || len(files) != 2 {
		t.Errorf("%d recordings: %v", len(files), err)
	}
	if s := log.String(); strings.Contains(s, "not counted once") {
		t.Errorf("the log: %s", s)
	}
}

// A lobby that has moved ends by its own panic alone: of a tick, of a request, of the background.
func TestThreat32PanicAfterAMove(t *testing.T) {
	cfg, log := workersConfig("mmsg", 4, 4)
	h, stop := running(t, cfg)
	at := "http://" + h.HTTPAddr()
	all := *h.list.Load()
	for _, x := range all {
		moveTo(t, h, x, 1)
	}
	well := join(t, h, 3)
	if err := h.doFor(all[0])(context.Background(), func(_ time.Duration, l *server.Lobby) {
		l.Timer().OnStage = func(s metrics.Stage) {
			if s == metrics.StageSnapshot {
				panic("planted within")
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.doFor(all[1])(context.Background(), func(time.Duration, *server.Lobby) {
		panic("planted between")
	}); !errors.Is(err, httpapi.ErrEnded) {
		t.Errorf("a request that panics: %v", err)
	}
	_ = h.doFor(all[2])(context.Background(), func(time.Duration, *server.Lobby) {
		all[2].leave(func() { panic("planted behind") })
	})
	eventually(t, "three lobbies have ended", func() bool { return len(lobbiesOf(t, at).Lobbies) == 1 })
	if l := lobbiesOf(t, at); l.Faults != 3 || l.Lobbies[0].Lobby != "3" {
		t.Errorf("%+v", l)
	}
	well.plays(t)
	stop()
	logs(t, log, "planted within", "planted between", "planted behind")
}

// What a lobby has left for the background when it moves runs in its order, and a panic of it ends the
// lobby where it plays then.
func TestBackgroundFollowsALobbyThatMoves(t *testing.T) {
	cfg, _ := workersConfig("mmsg", 2, 2)
	h, stop := running(t, cfg)
	defer stop()
	x := (*h.list.Load())[0]
	release, ran := make(chan struct{}), make(chan int, 100)
	_ = h.on(context.Background(), x, func(w *worker, _ time.Duration) {
		x.leave(func() { <-release })
		for i := range cap(h.encoder.queue) + 50 { // more than the queue holds
			x.leave(func() {
				if i%1000 == 0 || i == cap(h.encoder.queue)+49 {
					ran <- i
				}
			})
		}
		x.leave(func() { panic("planted") })
		x.pace.to = h.workers[1-w.index]
		w.depart(x)
	})
	eventually(t, "the lobby plays on the other worker", func() bool { return x.worker.Load().index == 1 })
	close(release)
	eventually(t, "the lobby has ended", x.over)
	close(ran)
	last := -1
	for i := range ran {
		if i < last {
			t.Errorf("%d ran after %d", i, last)
		}
		last = i
	}
	if last != cap(h.encoder.queue)+49 {
		t.Errorf("the last one was %d", last)
	}
	if n := len(*h.list.Load()); n != 1 {
		t.Errorf("%d lobbies", n)
	}
}

// Nothing keeps the memory of a lobby that has moved and ended.
func TestMovedLobbiesGiveTheirMemoryBack(t *testing.T) {
	cfg, _ := workersConfig("mmsg", 2, 2)
	h, stop := running(t, cfg)
	defer stop()
	x := (*h.list.Load())[1]
	ended, id := weak.Make(x.lobby), x.id()
	c := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: id}))
	c.until("a welcome", c.welcomed)
	defer c.Close()
	for to := range 2 {
		moveTo(t, h, x, to)
	}
	x = nil
	if err := h.EndLobby(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the memory of the lobby is free", func() bool {
		runtime.GC()
		return ended.Value() == nil
	})
}

// To take in a lobby that was made, and to forget one that ends, costs its worker less than two
// milliseconds. The least of several tries counts, as the machine may stall.
func TestLobbiesComeAndGoInTwoMilliseconds(t *testing.T) {
	alone(t)
	cfg, _ := workersConfig("mmsg", 20, 30)
	h, stop := running(t, cfg)
	defer stop()
	w := h.workers[0]
	made, ended := time.Hour, time.Hour
	for range 8 {
		c, _, err := h.lobbyConfig(httpapi.LobbySpec{})
		if err != nil {
			t.Fatal(err)
		}
		if c.ID, err = h.making.reserve(cfg.Lobbies.Most); err != nil {
			t.Fatal(err)
		}
		x, err := h.newHosted(w, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.requests.do(context.Background(), func(now time.Duration) {
			began := time.Now()
			w.add(now, x)
			made = min(made, time.Since(began))
		}); err != nil {
			t.Fatal(err)
		}
		if err := h.on(context.Background(), x, func(w *worker, now time.Duration) {
			began := time.Now()
			x.pace.leaving = packet.ReasonClosing
			_ = w.end(now, x)
			ended = min(ended, time.Since(began))
		}); err != nil && !errors.Is(err, httpapi.ErrEnded) {
			t.Fatal(err)
		}
	}
	t.Logf("made in %v, ended in %v", made, ended)
	if made > 2*time.Millisecond || ended > 2*time.Millisecond {
		t.Errorf("made in %v, ended in %v", made, ended)
	}
}

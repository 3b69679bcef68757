package runner

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/perfevent"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/httpapi"
)

// process is a server process. It ends when its standard input closes, so it never outlives the
// runner.
type process struct {
	cmd  *exec.Cmd
	out  io.Reader      // standard output
	http string         // address of its HTTP API
	udp  netip.AddrPort // address of its game socket
	key  netcode.Key    // private key of the tokens that it accepts
	errs *strings.Builder
	// of all its threads, from the begin of the figures on; nil: not counted
	counters atomic.Pointer[perfevent.Counters]
}

// readyWithin is the longest start of a server: the largest map takes seconds on a busy machine.
const readyWithin = time.Minute

// Environment of a server: its private key, and no secret for tokens whatever our own environment
// says.
const (
	keyVariable   = "TICKRATE_PRIVATE_KEY"
	tokenVariable = "TICKRATE_HTTP_TOKEN"
)

// serve starts the command serve on ports of the kernel's choice, with more flags, and waits until it
// is ready.
func (r *Runner) serve(sc scenario.Scenario, more ...string) (*process, error) {
	p := &process{}
	_, _ = rand.Read(p.key[:]) // does not fail: it stops the program
	args := []string{"serve", "--ready", "--exit-on-stdin-eof", "--hiccup",
		"--listen", netip.AddrPortFrom(r.host(), 0).String(), "--http", "127.0.0.1:0",
		"--map", simbench.MapName(sc), "--mode", sc.Lobby.Mode,
		"--content", r.cfg.ContentDir, "--model", r.cfg.ModelFile,
		"--players", fmt.Sprint(sc.Lobby.Players), "--spectators", fmt.Sprint(sc.Lobby.Spectators),
		"--rate", fmt.Sprint(sc.Rates.TickHz), "--send-interval", fmt.Sprint(sc.Every()),
		"--kbps", fmt.Sprint(sc.Rates.Kbps),
		"--socket", sc.Network.Socket, "--codec", sc.Network.Codec, "--relevance", sc.Lobby.Relevance,
		"--view-distance", fmt.Sprint(sc.Lobby.ViewDistance), "--seed", fmt.Sprint(sc.Play.Seed),
		"--journal", "none", "--local-list=false", "--idle-warn", "0", "--idle-kick", "0"}
	if sc.SharedProcess() {
		args = append(args, "--lobbies", fmt.Sprint(sc.Lobby.Lobbies))
	}
	args = append(args, more...)
	if err := r.launch(p, sc.Process, args); err != nil {
		return nil, err
	}
	var ready struct { // the line that --ready prints
		UDP  string `json:"udp"`
		HTTP string `json:"http"`
	}
	line, err := p.line(readyWithin)
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err == nil {
		p.http = ready.HTTP
		p.udp, err = netip.ParseAddrPort(ready.UDP)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("the server did not start: %w: %s", err, strings.TrimSpace(p.errs.String()))
	}
	return p, nil
}

// launch starts the binary with arguments, on the server's processor.
func (r *Runner) launch(p *process, env scenario.Process, args []string) (err error) {
	self := r.cfg.Binary
	if self == "" {
		if self, err = os.Executable(); err != nil {
			return err
		}
	}
	p.cmd, p.errs = exec.Command(self, args...), &strings.Builder{}
	p.cmd.Env = append(os.Environ(), keyVariable+"="+hex.EncodeToString(p.key[:]), tokenVariable+"=")
	if n := env.GOMAXPROCS; n > 0 {
		p.cmd.Env = append(p.cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", n))
	}
	if gogc := env.GOGC; gogc > 0 {
		p.cmd.Env = append(p.cmd.Env, fmt.Sprintf("GOGC=%d", gogc))
	} else if gogc < 0 {
		p.cmd.Env = append(p.cmd.Env, "GOGC=off")
	}
	p.cmd.Stderr = p.errs
	// The server ends when it closes, however this process ends.
	if _, err := p.cmd.StdinPipe(); err != nil {
		return err
	}
	ownGroup(p.cmd)
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return err
	}
	run := p.cmd.Start
	if r.onServer != nil {
		run = func() error { return clock.WithAffinity(r.onServer, p.cmd.Start) }
	}
	if err := run(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	p.out = bufio.NewReader(p.out)
	return nil
}

// line reads a line of the process, which is killed where none comes in time.
func (p *process) line(within time.Duration) ([]byte, error) {
	late := time.AfterFunc(within, func() { _ = p.cmd.Process.Kill() })
	line, err := p.out.(*bufio.Reader).ReadBytes('\n')
	if !late.Stop() && err != nil {
		err = fmt.Errorf("not ready within %v", within)
	}
	return line, err
}

// stop ends the process, by force if it does not end by itself, and waits for it.
func (p *process) stop() {
	p.counters.Load().Close()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(3*time.Second, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait()
	kill.Stop()
}

// reset begins new figures of all its lobbies, on a goroutine of its own: the swarm must not wait.
func (p *process) reset(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.ask(ctx, "POST", "/stats/reset")
		if err == nil {
			var c *perfevent.Counters
			c, err = countProcess(p.cmd.Process.Pid, perfevent.Hardware)
			p.counters.Swap(c).Close()
			err = uncounted(err)
		}
		done <- err
	}()
	return done
}

// stats asks the server for the figures of all its lobbies.
func (p *process) stats(ctx context.Context) ([]byte, error) {
	raw, err := p.ask(ctx, "GET", "/stats")
	if err != nil {
		return nil, fmt.Errorf("ask the server for its figures: %w", err)
	}
	return raw, nil
}

// counted is what the counters have counted; nil: there are none.
func (p *process) counted() *perfevent.Counts {
	c := p.counters.Load()
	if c == nil {
		return nil
	}
	n, err := c.Read()
	if err != nil {
		return nil
	}
	return &n
}

// askTimeout is how long an answer may take; hundreds of lobbies take a second.
const askTimeout = 10 * time.Second

// ask sends a request about all lobbies and returns the answer.
func (p *process) ask(ctx context.Context, method, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	url := "http://" + p.http + path + "?lobby=" + httpapi.AllLobbies
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := checkStatus(resp); err != nil {
		return nil, err
	}
	return io.ReadAll(resp.Body)
}

// checkStatus says which request a server refused.
func checkStatus(resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	return fmt.Errorf("the server answered %s to %s %s", resp.Status, resp.Request.Method,
		resp.Request.URL.Path)
}

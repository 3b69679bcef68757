//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

// process is a program that was started, in a folder of its own.
type process struct {
	cmd    *exec.Cmd
	output *tail
	dir    string
	done   chan struct{} // closed once it has ended
	err    error         // how it ended
}

// tail keeps the last bytes that a program wrote.
type tail struct {
	sync.Mutex
	data []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	t.data = append(t.data, b...)
	if n := len(t.data) - 4096; n > 0 {
		t.data = t.data[n:]
	}
	return len(b), nil
}

// launch starts a program on the given processors; nil: on those of this process. What it writes
// goes to stdout as well, unless that is nil.
func launch(args []string, on []int, stdout io.Writer) (p *process, err error) {
	p = &process{output: &tail{}, done: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "peers"); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Dir = p.dir
	p.cmd.Env = append(os.Environ(), "HOME="+p.dir, "TICKRATE_PRIVATE_KEY="+strings.Repeat("5a", 32))
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = time.Second
	start := p.cmd.Start
	if on != nil {
		start = func() error { return clock.WithAffinity(on, p.cmd.Start) }
	}
	if err := start(); err != nil {
		_ = os.RemoveAll(p.dir)
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// ended reports whether the program has.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop ends the program and removes its folder.
func (p *process) stop() {
	if !p.ended() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(2 * time.Second):
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
			<-p.done
		}
	}
	_ = os.RemoveAll(p.dir)
}

// said is the end of what the program wrote, in one line.
func (p *process) said() string {
	p.output.Lock()
	defer p.output.Unlock()
	lines := bytes.Split(bytes.TrimSpace(p.output.data), []byte("\n"))
	return string(bytes.Join(lines[max(len(lines)-3, 0):], []byte("; ")))
}

// cpu is the time that all threads of the program have run, and that they have waited for a
// processor.
func (p *process) cpu() (ran, waited time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil || len(files) == 0 {
		return 0, 0, fmt.Errorf("no threads of process %d: has it ended? It said: %s", p.cmd.Process.Pid, p.said())
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		var ns, delay time.Duration
		if _, err := fmt.Sscan(string(text), &ns, &delay); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", f, err)
		}
		ran, waited = ran+ns, waited+delay
	}
	return ran, waited, nil
}

// rss is the program's memory in bytes.
func (p *process) rss() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm of process %d: %q", p.cmd.Process.Pid, text)
	}
	pages, err := strconv.Atoi(fields[1])
	return pages * os.Getpagesize(), err
}

// freePort is a port of 127.0.0.1 that neither UDP nor TCP uses.
func freePort() (int, error) {
	for range 20 {
		u, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return 0, err
		}
		port := u.LocalAddr().(*net.UDPAddr).Port
		t, err := net.Listen("tcp4", loopback(port))
		_ = u.Close()
		if err == nil {
			_ = t.Close()
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1")
}

// sleep waits, and reports whether it was not interrupted.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

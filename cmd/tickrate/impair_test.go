package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
)

func TestImpairExitCodes(t *testing.T) {
	taken, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	busy := taken.LocalAddr().String()
	for line, want := range map[string]int{
		"--list":                             0,
		"--to 127.0.0.1:9 --duration 10ms":   0,
		"":                                   2,
		"--to nowhere":                       2,
		"--to 127.0.0.1:9 --listen 1.2.3:x":  2,
		"--to 127.0.0.1:9 --profile mobil":   2,
		"--to 127.0.0.1:9 --down loss=5":     2,
		"--to 127.0.0.1:9 --clients 0":       2,
		"--to 127.0.0.1:9 --duration -1s":    2,
		"--to 127.0.0.1:9 extra":             2,
		"--to 127.0.0.1:9 --speed 3":         2,
		"--to 127.0.0.1:9 --listen " + busy:  1,
		"--to " + busy + " --listen " + busy: 1,
	} {
		if got := run(append([]string{"impair"}, strings.Fields(line)...)); got != want {
			t.Errorf("impair %s: exit code %d, want %d", line, got, want)
		}
	}
}

func TestImpairListsProfiles(t *testing.T) {
	var out bytes.Buffer
	if err := listProfiles(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1+len(impair.Presets()) {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	for i, n := range impair.Presets() {
		if f := strings.Fields(lines[i+1]); f[0] != n.Name ||
			n.Name != "clean" && f[1] != n.Profile.String() {
			t.Errorf("line %d: %s", i+1, lines[i+1])
		}
	}
}

// The help names every setting.
func TestImpairHelpNamesSettings(t *testing.T) {
	_, err := impair.ParseProfile("x=1")
	_, names, _ := strings.Cut(err.Error(), "there are ")
	for name := range strings.SplitSeq(names, ", ") {
		if !strings.Contains(newImpair().Long, name) {
			t.Errorf("the help does not name %s", name)
		}
	}
}

// A datagram passes both ways and is counted.
func TestImpairCounts(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	go func() {
		var buf [100]byte
		// The answer comes after both copies, so both are counted by then.
		for heard := 0; ; heard++ {
			n, from, err := server.ReadFromUDPAddrPort(buf[:])
			if err != nil {
				return
			}
			if heard == 1 {
				_, _ = server.WriteToUDPAddrPort(buf[:n], from)
			}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	out := &firstLine{line: make(chan string, 1)}
	root := newRoot()
	root.SetOut(out)
	root.SetArgs([]string{"impair", "--to", server.LocalAddr().String(), "--profile",
		"duplicate=100%", "--down", "clean"})
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	_, addr, _ := strings.Cut(<-out.line, "clients to udp ")
	addr, _, _ = strings.Cut(addr, ",")
	client, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if _, err := client.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	_ = client.SetReadDeadline(time.Now().Add(waitLimit))
	if n, err := client.Read(make([]byte, 100)); n != 5 || err != nil {
		t.Fatalf("%d bytes came back, %v", n, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.all.String()), " ")
	for _, want := range []string{"received 1 1", "delivered 2 1", "duplicated 1 0",
		"bytes delivered 10 5", "1 client served"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, out.all.String())
		}
	}
}

// firstLine keeps all output and hands out the first line.
type firstLine struct {
	line chan string
	all  bytes.Buffer
}

func (f *firstLine) Write(b []byte) (int, error) {
	select {
	case f.line <- string(b):
	default:
	}
	return f.all.Write(b)
}

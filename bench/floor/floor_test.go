package floor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The loop is frozen: figures are comparable only while it does not change. Who changes it on purpose
// raises Version, so that no figure is compared with one of another loop, and writes the new sum here.
func TestFrozen(t *testing.T) {
	const want = "1 9375790d072af767"
	sum := sha256.New()
	for _, name := range []string{"clients_linux.go", "crypto.go", "floor.go", "measure_linux.go", "server_linux.go", "socket_linux.go"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var s scanner.Scanner // which leaves comments out
		s.Init(token.NewFileSet().AddFile(name, -1, len(src)), src, nil, 0)
		for {
			_, tok, text := s.Scan()
			if tok == token.EOF {
				break
			}
			fmt.Fprintln(sum, tok, text)
		}
	}
	if got := "1 " + hex.EncodeToString(sum.Sum(nil)[:8]); Version != 1 || got != want {
		t.Errorf("version %d of the loop is %q, expected %q: another loop is another floor", Version, got, want)
	}
}

func TestTrafficIsChecked(t *testing.T) {
	fine := Traffic{In: 10, Out: 5, BytesIn: 80, BytesOut: 900, Clients: 10, Run: 1}
	if err := fine.check(); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		change func(*Traffic)
		want   string
	}{
		{func(t *Traffic) { t.In = 0 }, "datagrams in, got 0"},
		{func(t *Traffic) { t.Out = math.NaN() }, "datagrams out, got NaN"},
		{func(t *Traffic) { t.BytesIn = 19 }, "expected 20 to 1232 bytes in, got 19"},
		{func(t *Traffic) { t.BytesOut = 1233 }, "bytes out, got 1233"},
		{func(t *Traffic) { t.Clients = 65537 }, "expected 1 to 65536 clients"},
		{func(t *Traffic) { t.Run = 0.5 }, "datagrams in a row, got 0.5"},
	} {
		bad := fine
		c.change(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
		if _, err := Measure(t.Context(), bad, Config{Samples: 1}); err == nil {
			t.Errorf("%d: measured", i)
		}
	}
}

func TestMedian(t *testing.T) {
	of := func(totals ...float64) (all []Cost) {
		for _, x := range totals {
			all = append(all, Cost{Receive: x / 2, Send: x / 2})
		}
		return all
	}
	for i, c := range []struct {
		samples             []Cost
		median, least, most float64
	}{{of(3, 1, 2), 2, 1, 3}, {of(4, 1, 9, 2), 2, 1, 9}, {of(7), 7, 7, 7}} {
		m, least, most := Median(c.samples)
		if m.Total() != c.median || least != c.least || most != c.most {
			t.Errorf("%d: %g of %g to %g", i, m.Total(), least, most)
		}
	}
}

func TestSpread(t *testing.T) {
	s, sum := spread{mean: 2.7}, 0
	for range 1000 {
		n := s.next()
		if sum += n; n != 2 && n != 3 {
			t.Fatal(n)
		}
	}
	if sum < 2699 || sum > 2700 {
		t.Errorf("%d in 1000 turns of 2.7", sum)
	}
}

// Elsewhere the floor is not measured, and says so.
func TestSystem(t *testing.T) {
	if runtime.GOOS == "linux" {
		return
	}
	_, err := Measure(t.Context(), Traffic{}, Config{Samples: 1, Time: time.Millisecond})
	if !errors.Is(err, ErrSystem) {
		t.Errorf("%v, want %v", err, ErrSystem)
	}
}

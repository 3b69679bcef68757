package report

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tickrate/tickrate/bench/capacity"
)

var shots = flag.String("shots", "", "directory to leave screenshots of the page in")

// browser starts a headless Chromium that notes every request and complaint of the pages it opens.
func browser(t *testing.T) (ctx context.Context, seen func() (requests, complaints []string)) {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium installed, so the page is not opened; on Debian: apt-get install chromium")
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir()))
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() { closeTab(); stop() })
	var mu sync.Mutex
	var requests, complaints []string
	err := chromedp.Listen(tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch event := event.(type) {
		case *network.EventRequestWillBeSent:
			requests = append(requests, event.Request.URL)
		case *runtime.EventExceptionThrown:
			text := event.ExceptionDetails.Text
			if thrown := event.ExceptionDetails.Exception; thrown != nil {
				text += " " + thrown.Description
			}
			complaints = append(complaints, text)
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprint("console.", event.Type))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, 60*time.Second)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return ctx, func() ([]string, []string) {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), requests...), append([]string(nil), complaints...)
	}
}

func open(t *testing.T, ctx context.Context, dir string, width int64, scheme string) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+filepath.Join(dir, PageFile)))
	if err != nil {
		t.Fatal(err)
	}
}

func evaluate[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return value
}

func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPageInBrowser(t *testing.T) {
	ctx, seen := browser(t)
	interrupted, empty := samplePlan(1), capacity.Plan{Partial: true}
	interrupted.Partial = true
	cases := []struct {
		name   string
		plan   capacity.Plan
		charts string
	}{
		{"full", samplePlan(100), "4"}, {"one", interrupted, "4"}, {"empty", empty, "undefined"},
	}
	for _, c := range cases {
		dir := t.TempDir()
		if err := Write(dir, c.plan); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{1280, 380} {
			for _, scheme := range []string{"light", "dark"} {
				if c.name != "full" && (width == 380) != (scheme == "dark") {
					continue // two views of the small pages are enough
				}
				name := fmt.Sprintf("%s-%d-%s", c.name, width, scheme)
				open(t, ctx, dir, width, scheme)
				if got := evaluate[string](t, ctx, `String(document.documentElement.dataset.drawn)`); got != c.charts {
					t.Errorf("%s: %s charts drawn, want %s", name, got, c.charts)
				}
				if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s: the page is %d pixels wide", name, wide)
				}
				paper := evaluate[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)
				if dark := strings.HasPrefix(paper, "rgb(21,"); dark != (scheme == "dark") {
					t.Errorf("%s: background %s", name, paper)
				}
				shoot(t, ctx, name)
			}
		}
	}
	requests, complaints := seen()
	for _, url := range requests {
		if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked for %s", url)
		}
	}
	if len(requests) < 6 || len(complaints) > 0 {
		t.Errorf("%d requests seen; complaints: %q", len(requests), complaints)
	}
}

func TestChartsByKeyboard(t *testing.T) {
	ctx, _ := browser(t)
	p, dir := samplePlan(100), t.TempDir()
	if err := Write(dir, p); err != nil {
		t.Fatal(err)
	}
	open(t, ctx, dir, 1280, "light")
	const chart = `document.querySelector('[data-chart=age]')`
	legend := func() string { return evaluate[string](t, ctx, chart+`.querySelector('.u-legend').textContent`) }
	if got := legend(); !strings.Contains(got, count(p.Knee.Players)) {
		t.Errorf("at rest the legend says %q, want the knee %d", got, p.Knee.Players)
	}
	if reached := evaluate[bool](t, ctx, `[...document.querySelectorAll('.chart, .scroll')].every(e => e.tabIndex === 0 && e.matches('[aria-labelledby]'))`); !reached {
		t.Error("a chart or table cannot be reached by keyboard")
	}
	press := func(key string) {
		t.Helper()
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](chart+`.focus()`), chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
	}
	said := func() string {
		return evaluate[string](t, ctx, chart+`.parentElement.querySelector('output').textContent`)
	}
	press(kb.Home)
	if got := said(); !strings.Contains(got, "players 64, p50 5") || !strings.Contains(got, "ms") {
		t.Errorf("Home says %q, want 64 players and their ages", got)
	}
	press(kb.ArrowRight)
	if got := said(); !strings.Contains(got, "128") {
		t.Errorf("ArrowRight says %q, want 128 players", got)
	}
}

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "directory to leave screenshots of the page in")

// widths and schemes are how every page is looked at.
var (
	widths  = []int64{1280, 380}
	schemes = []string{"light", "dark"}
)

// browser starts a headless Chromium that records the requests and error messages of the pages
// that it opens.
func browser(t *testing.T) (ctx context.Context, seen func() (requests, complaints []string)) {
	t.Helper()
	if os.Getenv("TICKRATE_E2E") == "" {
		t.Skip("make e2e opens the pages in a browser")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Fatal("no chromium; on Debian: apt-get install chromium")
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun,
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
		// What breaks the content security policy, and what cannot be loaded.
		case *log.EventEntryAdded:
			complaints = append(complaints, event.Entry.Text+" "+event.Entry.URL)
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprint("console.", event.Type))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, 4*time.Minute)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return ctx, func() ([]string, []string) {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), requests...), append([]string(nil), complaints...)
	}
}

// open loads a page at a viewport width in pixels, with a preferred color scheme (light or dark).
func open(t *testing.T, ctx context.Context, url string, width int64, scheme string) {
	t.Helper()
	prefers := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{prefers}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url))
	if err != nil {
		t.Fatal(err)
	}
}

// evaluate returns the value of a script.
func evaluate[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return value
}

// shoot saves a screenshot of the whole page, if screenshots are asked for.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

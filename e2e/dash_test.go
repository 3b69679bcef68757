package e2e

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/sim/arena"
)

const players = 32

// at is for pictures of a server with 32 players that runs already.
var at = flag.String("page", "", "URL of the live page of a server to look at, in place of one of our own")

// lobby returns the page of a new host with players, or of the URL in -page.
func lobby(t *testing.T) (page string) {
	t.Helper()
	if *at != "" {
		return *at
	}
	return runHost(t, players)
}

// runHost runs a host and players over real sockets until the test ends. It returns the address of
// its page.
func runHost(t *testing.T, players int) (page string) {
	t.Helper()
	ground, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	var key netcode.Key
	_, _ = rand.Read(key[:]) // does not fail: it stops the program
	h, err := host.New(host.Config{Name: "Lobby <b>one</b>", UDP: host.UDPConfig{Listen: "127.0.0.1:0"},
		HTTP: host.HTTPConfig{Listen: "127.0.0.1:0", TokenLifetime: time.Minute},
		Lobby: server.Config{Arena: ground, ArenaName: "arena-64", Players: 32,
			Netcode: netcode.ServerConfig{PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- h.Run(ctx) }()
	go func() { ended <- play(ctx, players, h.Addr(), key) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			select {
			case err := <-ended:
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("still running ten seconds after the end")
			}
		}
	})
	return "http://" + h.HTTPAddr() + "/"
}

// play connects the players and has them play until ctx ends.
func play(ctx context.Context, players int, at netip.AddrPort, key netcode.Key) error {
	if players == 0 {
		return nil
	}
	now := uint64(time.Now().Unix())
	bots, err :=
		swarm.Open(swarm.Config{Server: at, Players: players, Seed: 1, Token: func(n int) ([]byte, error) {
			m := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: uint64(1 + n),
				Create: now, Expire: now + 60, TimeoutSeconds: 10, Servers: []netip.AddrPort{at}}
			return m.Append(nil, &key, rand.Reader)
		}})
	if err != nil {
		return err
	}
	defer bots.Close()
	return bots.Run(ctx, time.Hour, func() bool { return ctx.Err() != nil })
}

// until waits up to 40 s for a script to evaluate to true.
func until(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	end := time.Now().Add(40 * time.Second)
	for !evaluate[bool](t, ctx, script) {
		time.Sleep(50 * time.Millisecond)
		if time.Now().After(end) {
			t.Fatalf("never true: %s", script)
		}
	}
}

// stuck requests the event stream and never reads it.
func stuck(t *testing.T, page string) {
	t.Helper()
	host := strings.Trim(strings.TrimPrefix(page, "http:"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
	if _, err := fmt.Fprintf(conn, "GET /dash/events HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
		t.Fatal(err)
	}
}

// pale lists text whose contrast is too low: less than 4.5 to 1, or 3 to 1 for large text (WCAG
// 2.2, AA).
const pale = `(() => {
  const rgb = (c) => {
    const v = c.match(/[\d.]+/g).map(Number);
    return v.length > 3 && v[3] === 0 ? null : v.slice(0, 3);
  };
  const linear = (v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const weights = [.2126, .7152, .0722];
  const light = (c) => c.map((v) => linear(v / 255)).reduce((n, v, i) => n + v * weights[i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c) return c;
    }
    return [255, 255, 255];
  };
  const bad = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    if (!e.getClientRects().length || e.closest('.skip')) continue;
    const s = getComputedStyle(e), a = light(rgb(s.color) ?? [0, 0, 0]), b = light(behind(e));
    const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && s.fontWeight >= 700;
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio >= (large ? 3 : 4.5)) continue;
    bad.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.trim().slice(0, 30));
  }
  return [...bad];
})()`

// unnamed lists the elements that the keyboard reaches and that have no accessible name.
const unnamed = `(() => {
  const named = (e) => e.getAttribute('aria-labelledby') || e.getAttribute('aria-label') ||
    e.labels?.length || e.textContent.trim();
  return [...document.querySelectorAll('[tabindex="0"], button, input, canvas')]
    .filter((e) => !e.closest('.chart > *') && e.getClientRects().length && !named(e))
    .map((e) => e.outerHTML.slice(0, 80));
})()`

// The page shows a live lobby at both widths and in both color schemes, and a reader that never
// reads changes nothing.
func TestDash(t *testing.T) {
	ctx, seen := browser(t)
	page := lobby(t)
	stuck(t, page)
	for _, width := range widths {
		for _, scheme := range schemes {
			name := fmt.Sprintf("dash-%d-%s", width, scheme)
			open(t, ctx, page, width, scheme)
			until(t, ctx,
				`document.querySelectorAll('#table-clients tbody tr').length === 32 &&
					document.querySelectorAll('#shots [role=option]').length > 0 &&
					document.documentElement.dataset.frames > 8`)
			if got := evaluate[string](t, ctx, `document.documentElement.dataset.drawn`); got != "3" {
				t.Errorf("%s: %s charts", name, got)
			}
			if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s: the page is %d pixels wide", name, wide)
			}
			for what, list := range map[string]string{"too pale": pale, "without a name": unnamed} {
				if bad := evaluate[[]string](t, ctx, list); len(bad) > 0 {
					t.Errorf("%s: %s: %q", name, what, bad)
				}
			}
			if title := evaluate[string](t, ctx, `document.querySelector('h1').textContent`); *at == "" &&
				title != "Lobby <b>one</b>" {
				t.Errorf("%s: title %q", name, title)
			}
			shows(t, ctx, name)
			if *shots != "" {
				// For the pictures: charts with something in them, and the tables that are closed
				// at first.
				time.Sleep(10 * time.Second)
				evaluate[bool](t, ctx,
					`[...document.querySelectorAll('details')].map((e) => e.open = true).length > 0`)
			}
			shoot(t, ctx, name)
		}
	}
	requests, complaints := seen()
	for _, url := range requests {
		if !strings.HasPrefix(url, page) && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked for %s", url)
		}
	}
	if len(requests) < 5 || len(complaints) > 0 {
		t.Errorf("%d requests seen; complaints: %q", len(requests), complaints)
	}
}

// shows checks the values on the page: 32 moving players, a tick that takes time, and bytes that
// add up.
func shows(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	text := func(id string) string {
		return evaluate[string](t, ctx, `document.getElementById('`+id+`').textContent`)
	}
	number := func(id string) float64 {
		x, err := strconv.ParseFloat(strings.ReplaceAll(text(id), ",", ""), 64)
		if err != nil {
			t.Errorf("%s: %s: %v", name, id, err)
		}
		return x
	}
	if number("f-players") != players || number("f-tick") <= 0 || number("f-down") <= 0.1 ||
		number("f-up") <= 0.05 || number("f-rtt") <= 0 {
		t.Errorf("%s: %s players, tick %s ms, %s down, %s up, RTT %s", name,
			text("f-players"), text("f-tick"), text("f-down"), text("f-up"), text("f-rtt"))
	}
	if text("state") != "live" {
		t.Errorf("%s: it is %s", name, text("state"))
	}
	sum := evaluate[float64](t, ctx,
		`[...document.querySelectorAll('#table-parts tbody tr')]
			.reduce((n, r) => n + parseFloat(r.cells[2].textContent), 0)`)
	if sum < 99.5 || sum > 100.5 {
		t.Errorf("%s: parts of the bandwidth are %.1f %% of it", name, sum)
	}
	// Handshakes may be sampled first.
	until(t, ctx,
		`!document.getElementById('fields').hidden &&
			document.getElementById('table-fields').textContent.includes('seal tag')`)
	fields := evaluate[string](t, ctx, `document.getElementById('table-fields').textContent`)
	sum = evaluate[float64](t, ctx,
		`[...document.querySelectorAll('#table-fields tbody tr')]
			.reduce((n, r) => n + parseFloat(r.cells[2].textContent), 0)`)
	// Up to sixty rounded numbers.
	if sum < 97 || sum > 103 || !strings.Contains(fields, "seal tag") {
		t.Errorf("%s: fields are %.1f %% of the bandwidth: %s", name, sum, fields)
	}
	until(t, ctx, `/^a second: .*footstep [0-9.]+ .*impact [0-9.]+/.test(
		document.getElementById('effects-note').textContent)`)
	const look = `JSON.stringify([
		document.getElementById('map').toDataURL().length,
		document.getElementById('f-down').textContent,
		document.querySelector('#table-clients').textContent].join())`
	before, frames := evaluate[string](t, ctx, look),
		evaluate[string](t, ctx, `document.documentElement.dataset.frames`)
	until(t, ctx, `document.documentElement.dataset.frames > `+frames+` + 3`)
	if evaluate[string](t, ctx, look) == before {
		t.Errorf("%s: nothing moves", name)
	}
	colours := evaluate[int](t, ctx,
		`(() => {
			const c = document.getElementById('map'), colours = new Set();
			const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			for (let i = 0; i < d.length; i += 4) colours.add(d[i] << 16 | d[i+1] << 8 | d[i+2]);
			return colours.size;
		})()`)
	if colours < 8 {
		t.Errorf("%s: a map of %d colours", name, colours)
	}
}

// An empty lobby is shown as such.
func TestDashOfNobody(t *testing.T) {
	ctx, seen := browser(t)
	open(t, ctx, runHost(t, 0), 380, "dark")
	until(t, ctx, `document.documentElement.dataset.frames > 3`)
	if got := evaluate[string](t, ctx,
		`[...document.querySelectorAll('#f-players, #f-rtt, #f-inputs-missing, #shown')]
			.map((e) => e.textContent).join()`); got != "0,–,–,0 of 0" {
		t.Errorf("it says %q", got)
	}
	if text := evaluate[string](t, ctx, `document.body.innerText`); strings.Contains(text, "NaN") ||
		strings.Contains(text, "Infinity") || strings.Contains(text, "undefined") {
		t.Error(text)
	}
	if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > 380 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	if _, complaints := seen(); len(complaints) > 0 {
		t.Errorf("complaints: %q", complaints)
	}
}

// Everything can be reached and used by keyboard, and the focus is visible.
func TestDashByKeyboard(t *testing.T) {
	ctx, _ := browser(t)
	open(t, ctx, lobby(t), 1280, "light")
	until(t, ctx,
		`document.querySelectorAll('#table-clients tbody tr').length === 32 &&
			document.querySelectorAll('#shots [role=option]').length > 1`)
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if err := chromedp.Do(ctx, chromedp.KeyEvent(key)); err != nil {
				t.Fatal(err)
			}
		}
	}
	focus := func(selector string) {
		t.Helper()
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(`+
			strconv.Quote(selector)+`).focus()`)); err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for range 40 {
		press(kb.Tab)
		at := evaluate[string](t, ctx,
			`(() => {
				const e = document.activeElement;
				return e.id || e.dataset.chart || e.textContent.trim().slice(0, 20);
			})()`)
		if len(order) > 0 && (at == order[0] || at == "") {
			break
		}
		order = append(order, at)
		if ring := evaluate[string](t, ctx,
			`(() => {
				const s = getComputedStyle(document.activeElement);
				return s.outlineStyle + ' ' + s.outlineWidth;
			})()`); !strings.HasPrefix(ring, "solid 2") && !strings.HasPrefix(ring, "auto") {
			t.Errorf("nothing shows that %q has the focus: %s", at, ring)
		}
	}
	last := -1
	for _, want := range []string{"Skip to the table of", "pause", "stages",
		"ticks", "shots", "bytes", "find", "Slot", "Name", "RTT, ms", "Resyncs"} {
		i := slices.Index(order, want)
		if i <= last {
			t.Errorf("%q is not reached in its turn: %q", want, order)
		}
		last = i
	}

	sorted := func() (sort, names string) {
		return evaluate[string](t, ctx,
				`document.querySelectorAll('#table-clients th')[1].getAttribute('aria-sort') ?? ''`),
			evaluate[string](t, ctx,
				`[...document.querySelectorAll('#table-clients tbody th')].map((c) => c.textContent).join()`)
	}
	focus("#table-clients th:nth-child(2) button")
	press(kb.Enter)
	if sort, names := sorted(); sort != "ascending" || !strings.HasPrefix(names, "bot 0,bot 1,bot 10,") {
		t.Errorf("sorted %s: %s", sort, names)
	}
	press(" ")
	if sort, names := sorted(); sort != "descending" || !strings.HasPrefix(names, "bot 9,bot 8,") {
		t.Errorf("sorted %s: %s", sort, names)
	}
	focus("#find")
	press("b", "o", "t", " ", "7")
	until(t, ctx, `document.querySelectorAll('#table-clients tbody tr').length === 1`)

	focus("#shots")
	press(kb.End)
	if !evaluate[bool](t, ctx,
		`document.querySelector('#shots [aria-selected=true]').id ===
			document.getElementById('shots').getAttribute('aria-activedescendant')`) {
		t.Error("the chosen shot is not the one that is said")
	}

	// A chart has nothing to the left of now before its second frame.
	until(t, ctx, `document.documentElement.dataset.frames >= 2`)
	focus("[data-chart=stages]")
	press(kb.ArrowLeft)
	said := evaluate[string](t, ctx,
		`document.querySelector('[data-chart=stages]').parentElement.querySelector('output').textContent`)
	if !strings.Contains(said, "s ago") || !strings.Contains(said, "match") {
		t.Errorf("a chart says %q", said)
	}

	focus("#pause")
	press(kb.Enter)
	until(t, ctx, `document.getElementById('state').textContent === 'paused'`)
	frames := evaluate[string](t, ctx, `document.documentElement.dataset.frames`)
	time.Sleep(600 * time.Millisecond)
	if now := evaluate[string](t, ctx, `document.documentElement.dataset.frames`); now != frames {
		t.Errorf("%s frames, then %s while it is paused", frames, now)
	}
	press(kb.Enter)
	until(t, ctx, `document.documentElement.dataset.frames > `+frames)
}

// TestEntitiesArePicked: a click on the map picks an entity; the page then has its components
// and every client with the reason why it is sent it or not. So does the list, by keyboard.
func TestEntitiesArePicked(t *testing.T) {
	ctx, seen := browser(t)
	open(t, ctx, lobby(t), 1280, "dark")
	until(t, ctx, `document.documentElement.dataset.frames > 3`)
	asked := func() (n int) {
		requests, _ := seen()
		for _, url := range requests {
			if strings.Contains(url, "/dash/entit") {
				n++
			}
		}
		return n
	}
	if n := asked(); n != 0 {
		t.Errorf("%d requests for entities while nobody looks at them", n)
	}
	// Somebody is within reach of one of these points.
	until(t, ctx, `(() => {
		const map = document.getElementById('map'), box = map.getBoundingClientRect();
		for (let i = 0; i < 60 && !document.getElementById('entities-open').open; i++)
			map.dispatchEvent(new MouseEvent('click', {
				clientX: box.left + box.width * (i % 8 + 1) / 9, clientY: box.top + box.height * (Math.floor(i / 8) + 1) / 9}));
		return document.getElementById('entities-open').open;
	})()`)
	until(t, ctx, `document.querySelectorAll('#table-components tbody tr').length > 10 &&
		document.querySelectorAll('#table-sent tbody tr').length === 32 &&
		document.querySelectorAll('#entities [role=option]').length > 40`)
	first := evaluate[string](t, ctx, `document.getElementById('entity-title').textContent`)
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`document.getElementById('entities').focus()`)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{kb.End, kb.ArrowUp} {
		if err := chromedp.Do(ctx, chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, ctx, `document.getElementById('entity-title').textContent !== `+strconv.Quote(first)+` &&
		document.querySelectorAll('#entities [aria-selected=true]').length === 1`)
	shoot(t, ctx, "entities")
	if _, complaints := seen(); len(complaints) > 0 {
		t.Errorf("complaints: %q", complaints)
	}
}

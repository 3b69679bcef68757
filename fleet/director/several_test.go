package director

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/netio/netcode"
)

// at gives a host addresses.
func at(h *announce.Host, addresses ...string) *announce.Host {
	h.Addresses = addresses
	return h
}

// names returns the hosts of an answer.
func names(a Answer) (all []string) {
	for _, h := range a.Hosts {
		all = append(all, h.Host)
	}
	return all
}

// A request for several hosts has places on different machines, the fullest first, and its tokens name
// them all. Any director repeats the answer, and a host whose places are gone is not named.
func TestMatchOnSeveralHosts(t *testing.T) {
	b := testBus(t)
	one, two := testDirector(t, b, nil), testDirector(t, b, nil)
	defer one.Close()
	defer two.Close()
	for _, h := range []*announce.Host{
		at(testHost(0, 5), "192.0.2.1:7913", "[2001:db8::1]:7913"),
		at(testHost(1, 4), "192.0.2.9:7914", "192.0.2.1:7914"), // the same machine
		at(testHost(2, 3), "192.0.2.3:7913"),
		at(testHost(3, 2), "[2001:db8::4]:7913"),
		at(testHost(4, 8), "192.0.2.5:7913"), // full
	} {
		h.MostRooms = 1
		one.known(h)
		two.known(h)
	}
	ctx := context.Background()
	a, err := one.Match(ctx, Ask{"r", 2, "a", "m", 8})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"h0000", "h0002", "h0003"}; !slices.Equal(names(a), want) || a.Host != want[0] ||
		a.Lobby != "0" {
		t.Errorf("hosts %v, want %v", names(a), want)
	}
	servers := []string{"192.0.2.1:7913", "[2001:db8::1]:7913", "192.0.2.3:7913", "[2001:db8::4]:7913"}
	var p netcode.PublicToken
	if err := p.Parse(a.Tokens[1].Token); err != nil || !slices.Equal(a.Servers, servers) ||
		p.NumServers != len(servers) || p.Servers[3] != netip.MustParseAddrPort(servers[3]) {
		t.Errorf("%v, servers %v, token %v", err, a.Servers, p.Servers[:p.NumServers])
	}
	for i, host := range []string{"h0000", "h0002", "h0003"} {
		if got, want := one.committed(host), 5-i-min(i, 1)+2; got != want {
			t.Errorf("host %s has %d players and places, want %d", host, got, want)
		}
	}
	again, err := two.Match(ctx, Ask{"r", 2, "a", "m", 8})
	if err != nil || !reflect.DeepEqual(a, again) {
		t.Errorf("another director answers otherwise: %v", err)
	}
	if _, err := two.Match(ctx, Ask{"r", 2, "a", "m", 2}); !errors.Is(err, ErrChanged) {
		t.Errorf("the same request for other hosts: %v", err)
	}
	// h0000 has one place left, and h0001 and h0003 have as many players
	if a, err = one.Match(ctx, Ask{"s", 2, "a", "m", 2}); err != nil ||
		!slices.Equal(names(a), []string{"h0002", "h0001"}) {
		t.Errorf("hosts %v, %v", names(a), err)
	}
	if a, err = one.Match(ctx, Ask{"t", 1, "a", "m", 1}); err != nil || len(a.Hosts) != 1 {
		t.Errorf("hosts %v, %v", names(a), err)
	}
	if same, err := two.Match(ctx, Ask{"t", 1, "a", "m", 0}); err != nil || !reflect.DeepEqual(a, same) {
		t.Errorf("one host is not the default: %v", err)
	}
	for _, hosts := range []int{-1, MaxHosts + 1} {
		if _, err := one.Match(ctx, Ask{"u", 1, "a", "m", hosts}); !errors.Is(err, ErrAsk) {
			t.Errorf("%d hosts: %v", hosts, err)
		}
	}
}

// Arrivals of the fleet are known if all of its hosts say theirs.
func TestArrivalsOfTheFleet(t *testing.T) {
	d := testDirector(t, testBus(t), nil)
	defer d.Close()
	if d.Stats().Arrivals != nil {
		t.Error("arrivals without a host")
	}
	one, two := testHost(0, 1), testHost(1, 1)
	one.Arrivals, two.Arrivals = new(30), new(0)
	d.known(one)
	d.known(two)
	if n := d.Stats().Arrivals; n == nil || *n != 30 {
		t.Errorf("%v arrivals, want 30", n)
	}
	d.known(testHost(2, 1)) // of an older build
	if n := d.Stats().Arrivals; n != nil {
		t.Errorf("%d arrivals, though a host does not say", *n)
	}
}

// committed is how many slots of a host are taken or promised.
func (d *Director) committed(host string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.index.hosts[host].committed
}

// Places of a request on the hosts that its player did not choose are free again when it expires.
func TestPlacesNotTakenExpire(t *testing.T) {
	d := testDirector(t, testBus(t), func(c *Config) { c.TokenLifetime = time.Second })
	defer d.Close()
	for n := range 2 {
		d.known(at(testHost(n, 0), fmt.Sprintf("192.0.2.%d:7913", n+1)))
	}
	if a, err := d.Match(context.Background(), Ask{"r", 8, "a", "m", 2}); err != nil || len(a.Hosts) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	if d.committed("h0000") != 8 || d.committed("h0001") != 8 {
		t.Error("no places were reserved")
	}
	d.mu.Lock()
	d.index.expire(time.Now().Add(time.Second + holdGrace + time.Millisecond))
	left := len(d.index.held)
	d.mu.Unlock()
	if d.committed("h0000") != 0 || d.committed("h0001") != 0 || left != 0 {
		t.Errorf("%d and %d places are still promised, %d requests held", d.committed("h0000"),
			d.committed("h0001"), left)
	}
}

// A token has room for 32 addresses: a host whose own do not fit is left out.
func TestHostsThatDoNotFitAToken(t *testing.T) {
	d := testDirector(t, testBus(t), nil)
	defer d.Close()
	for n, count := range []int{20, 20, 12} {
		h := at(testHost(n, 4-n))
		for i := range count {
			h.Addresses = append(h.Addresses, fmt.Sprintf("192.0.%d.%d:7913", n, i+1))
		}
		d.known(h)
	}
	a, err := d.Match(context.Background(), Ask{"r", 1, "a", "m", 3})
	if err != nil || !slices.Equal(names(a), []string{"h0000", "h0002"}) || len(a.Servers) != netcode.MaxServers {
		t.Errorf("hosts %v, %d servers, %v", names(a), len(a.Servers), err)
	}
}

// A reservation on two hosts of a director that died is used by the next, with no place taken twice.
func TestReservationsOfADeadDirectorAreUsed(t *testing.T) {
	b := testBus(t)
	one, two := testDirector(t, b, nil), testDirector(t, b, nil)
	defer two.Close()
	for n := range 2 {
		h := at(testHost(n, 0), fmt.Sprintf("192.0.2.%d:7913", n+1))
		h.MostRooms = 1
		one.known(h)
		two.known(h)
	}
	ask := Ask{"r", 8, "a", "m", 2}
	if p, err := one.place(context.Background(), ask); err != nil || len(p.Others) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	one.Close()
	for end := time.Now().Add(10 * time.Second); two.committed("h0000")+two.committed("h0001") < 16; {
		if time.Now().After(end) {
			t.Fatal("the reservations were not seen")
		}
		time.Sleep(time.Millisecond)
	}
	a, err := two.Match(context.Background(), ask)
	if err != nil || len(a.Hosts) != 2 {
		t.Errorf("%v, %v", names(a), err)
	}
}

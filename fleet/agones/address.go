package agones

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Address asks the SDK server at a URL under which address and port players reach this game server,
// until it says so or ctx ends. It is that of the first port of the record. A name of a host is
// resolved.
func Address(ctx context.Context, url string) (at netip.AddrPort, err error) {
	for pause := retryLeast; ; pause = min(2*pause, retryMost) {
		if at, err = addressOnce(ctx, url); err == nil {
			return at, nil
		}
		select {
		case <-ctx.Done():
			return at, fmt.Errorf("SDK server %s gives no address: %w", url, err)
		case <-time.After(pause):
		}
	}
}

// addressOnce asks once.
func addressOnce(ctx context.Context, url string) (at netip.AddrPort, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/gameserver", nil)
	if err != nil {
		return at, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return at, err
	}
	defer resp.Body.Close()
	var g GameServer
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxRecord)).Decode(&g); err != nil {
		return at, err
	}
	ports := g.Status.Ports
	if g.Status.Address == "" || len(ports) == 0 || ports[0].Port < 1 || ports[0].Port > 65535 {
		return at, errors.New("none is in its record yet")
	}
	ip, err := netip.ParseAddr(g.Status.Address)
	if err != nil {
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", g.Status.Address)
		if err != nil {
			return at, err
		}
		ip = all[0]
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(ports[0].Port)), nil
}

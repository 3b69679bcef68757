package netcode

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
)

// Neither a server nor a token has an address that no client can dial, and the error names it.
func TestAddressesThatClientsCanDial(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"127.0.0.1:7913", ""},
		{"[::1]:7913", ""},
		{"192.0.2.1:1", ""},
		{"0.0.0.0:7913", "address 0.0.0.0:7913: clients cannot dial 0.0.0.0"},
		{"[::]:7913", "address [::]:7913: clients cannot dial ::"},
		{"[::ffff:0.0.0.0]:7913", "clients cannot dial 0.0.0.0"},
		{"127.0.0.1:0", "address 127.0.0.1:0: port 0, expected the port that clients dial"},
		{"", "an address that is not set"},
	} {
		var address netip.AddrPort
		if c.address != "" {
			address = netip.MustParseAddrPort(c.address)
		}
		servers := []netip.AddrPort{testServer, address}
		_, err := NewServer(ServerConfig{PrivateKey: testKey, Addresses: servers, Entropy: [32]byte{1},
			AllowTokenReuse: true, AllowTestKey: true})
		mint := Mint{Expire: 1, TimeoutSeconds: 1, Servers: servers}
		_, minted := mint.Append(nil, &testKey, bytes.NewReader(make([]byte, 1<<10)))
		inner := Mint{Expire: 1, TimeoutSeconds: 1, Servers: servers[:1], Internal: servers}
		_, internal := inner.Append(nil, &testKey, bytes.NewReader(make([]byte, 1<<10)))
		for i, err := range []error{err, minted, internal} {
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q, %d: error %v, want %q", c.address, i, err, c.want)
			}
		}
	}
	if _, err := NewServer(ServerConfig{PrivateKey: testKey, Entropy: [32]byte{1}, AllowTokenReuse: true,
		AllowTestKey: true}); err == nil || !strings.Contains(err.Error(), "0 addresses, expected 1 to 32") {
		t.Errorf("no address: %v", err)
	}
}

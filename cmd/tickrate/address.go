// Flag values that name addresses and the protocol id. Text goes in; validated values come out, and
// errors of use that name the flag.

package main

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// publicAddrs resolves the addresses of a flag, at most netcode.MaxServers, in the form that a
// token holds: IPv4 not mapped into IPv6, no zone, and neither host nor port zero.
func publicAddrs(flag string, list []string) (all []netip.AddrPort, err error) {
	if len(list) > netcode.MaxServers {
		return nil, usage.Errorf("%s: %d addresses, expected at most %d", flag, len(list), netcode.MaxServers)
	}
	for _, text := range list {
		udp, err := resolveUDP(text)
		if err != nil {
			return nil, usage.Errorf("%s: %w", flag, err)
		}
		at := udp.AddrPort()
		at = netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
		if !at.Addr().IsValid() || at.Addr().IsUnspecified() || at.Port() == 0 {
			return nil, usage.Errorf("%s %q: expected host:port as players dial it", flag, text)
		}
		all = append(all, at)
	}
	return all, nil
}

// resolveUDP resolves host:port.
func resolveUDP(text string) (*net.UDPAddr, error) {
	if err := errURL(text); err != nil {
		return nil, err
	}
	return net.ResolveUDPAddr("udp", text)
}

// notURL refuses a URL as the value of a flag that takes host:port.
func notURL(flag, text string) error {
	if err := errURL(text); err != nil {
		return usage.Errorf("%s: %w", flag, err)
	}
	return nil
}

// errURL is the error of a URL in place of host:port, which says what to write instead.
func errURL(text string) error {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil
	}
	host, _, _ := strings.Cut(rest, "/")
	return usage.Errorf("%s is a URL: expected host:port, as %s", text, host)
}

// protocolID is a flag value: decimal, or hexadecimal after 0x. Tokens and servers must agree on
// it.
type protocolID uint64

// String formats the id as hexadecimal.
func (p *protocolID) String() string { return "0x" + strconv.FormatUint(uint64(*p), 16) }

// Type names the kind of value in the help.
func (p *protocolID) Type() string { return "number" }

// Set reads the flag. 0 is refused: a server takes it for "the default".
func (p *protocolID) Set(text string) error {
	digits, base := text, 10
	if rest, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n == 0 {
		return errors.New("expected 1 to 2^64-1, decimal or 0x and hexadecimal")
	}
	*p = protocolID(n)
	return nil
}

// defaultProtocol is the protocol id of this build's game.
const defaultProtocol = protocolID(protocol.ProtocolID)

// protocolUsage is the help text of --protocol-id.
const protocolUsage = "protocol id as clients and tokens have it, decimal or 0x..."

package dst

import (
	"net/netip"

	"github.com/tickrate/tickrate/netio/netcode"
)

// beganAndEnded reports whether a datagram is of a session that began and was rejected in one step.
func (h *host) beganAndEnded(to netip.AddrPort, data []byte) bool {
	token, ok := h.responded[to]
	by := h.sender(to)
	if ok && h.wire.tags[by] != token && beginsSession(data) {
		h.wire.tags[by], h.wire.validated[to] = token, true
	}
	return ok && h.wire.tags[by] == token
}

// hasFollowed reports whether a session began at another worker than the one that sends now. It
// follows its lobby, which has moved, when its handshake ends.
func (h *host) hasFollowed(to netip.AddrPort, token netcode.TokenTag) bool {
	for w := range h.ports {
		if w != h.serving && h.wire.tags[sender{w, to}] == token {
			return true
		}
	}
	return false
}

// followed returns the sequences of the session at an address that is not of the worker that sends
// now, or else those of own.
func (h *host) followed(to netip.AddrPort, own *netcode.ReplayWindow) *netcode.ReplayWindow {
	for w := range h.ports {
		if tag, ok := h.wire.tags[sender{w, to}]; ok && w != h.serving {
			return h.wire.window(tag)
		}
	}
	return own
}

package protocol

import "github.com/tickrate/tickrate/netio/packet"

// MessageMapChange begins a message about a map later than the one of the session's first
// Welcome.
const MessageMapChange byte = 0xf5

// MaxMapChange is the longest such message.
const MaxMapChange = 2 + MaxWelcome

// AppendMapChange begins a message about a map at the end of dst. A Welcome from the server, or a
// Ready or Fetch from the client, goes after it.
//
//	1  tag      0xf5
//	1  epoch    map changes in this session: 1 for the first one, and 1 again after 255
//	n  message  a Welcome, Ready or Fetch, as in epoch 0, which has no map change around it
func AppendMapChange(dst []byte, epoch uint8) []byte { return append(dst, MessageMapChange, epoch) }

// ParseMapChange returns the epoch of the map and the message about it. The error is a
// packet.Drop.
func ParseMapChange(src []byte) (epoch uint8, message []byte, err error) {
	if len(src) < 3 || src[0] != MessageMapChange || src[1] == 0 {
		return 0, nil, packet.DropMessage
	}
	return src[1], src[2:], nil
}

// NextMapEpoch returns the epoch that follows one.
func NextMapEpoch(epoch uint8) uint8 { return max(1, epoch+1) }

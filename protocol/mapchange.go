package protocol

import "github.com/tickrate/tickrate/netio/packet"

// MessageMapChange begins an event about a world later than the one of the session's Welcome: the server has changed the map under its
// clients.
const MessageMapChange byte = 0xf5

// MaxMapChange is the longest such event.
const MaxMapChange = 2 + MaxWelcome

// AppendMapChange begins an event about a world at the end of dst: a Welcome from the server, or a Ready or Fetch of the client's,
// goes behind it.
//
//	1  tag    0xf5
//	1  world  how often the map has changed in this session: 1 for the first time, and 1 again after 255
//	n  event  a Welcome, Ready or Fetch, as it is in world 0, which is not written
func AppendMapChange(dst []byte, world uint8) []byte { return append(dst, MessageMapChange, world) }

// ParseMapChange reads which world an event is about, and returns the event in it. The error is a packet.Drop.
func ParseMapChange(src []byte) (world uint8, event []byte, err error) {
	if len(src) < 3 || src[0] != MessageMapChange || src[1] == 0 {
		return 0, nil, packet.DropMessage
	}
	return src[1], src[2:], nil
}

// NextMapEpoch is the number of the world after one.
func NextMapEpoch(world uint8) uint8 { return max(1, world+1) }

package protocol

import (
	"bytes"

	"github.com/tickrate/tickrate/netio/packet"
)

// MessageMove begins a part of a connect token for the host that the match moves to.
const MessageMove byte = 0xf6

// MoveTokenSize is the length of a public connect token of netcode 1.02.
const MoveTokenSize = 2048

// MaxMovePart is the most bytes of a token in one message: a shorter part is the last one.
const MaxMovePart = packet.MaxMessageSize - 1

// MoveParts splits a connect token of MoveTokenSize bytes into messages, in the order in which
// they have to be sent. The zeros at its end are left out.
//
//	1  tag   0xf6
//	n  part  at most 255 bytes; fewer, perhaps none, in the last message
func MoveParts(token []byte) (messages [][]byte) {
	token = bytes.TrimRight(token, "\x00")
	for more := true; more; {
		n := min(len(token), MaxMovePart)
		messages = append(messages, append([]byte{MessageMove}, token[:n]...))
		token, more = token[n:], n == MaxMovePart
	}
	return messages
}

// AppendMovePart appends the part in a message to a token, and reports whether the token is whole:
// then it has MoveTokenSize bytes. The error is a packet.Drop.
func AppendMovePart(token, message []byte) (_ []byte, whole bool, err error) {
	if len(message) == 0 || message[0] != MessageMove ||
		len(token)+len(message)-1 > MoveTokenSize || len(message)-1 > MaxMovePart {
		return token, false, packet.DropMessage
	}
	token = append(token, message[1:]...)
	if len(message)-1 == MaxMovePart {
		return token, false, nil
	}
	return append(token, make([]byte, MoveTokenSize-len(token))...), true, nil
}

package capture

import "encoding/binary"

// The wire types of protobuf that are written here.
const (
	wireVarint = 0
	wireBytes  = 2
)

// appendVarint appends a number as a field of a message.
func appendVarint(dst []byte, field int, v uint64) []byte {
	dst = binary.AppendUvarint(dst, uint64(field)<<3|wireVarint)
	return binary.AppendUvarint(dst, v)
}

// appendString appends text as a field of a message.
func appendString(dst []byte, field int, text string) []byte {
	dst = binary.AppendUvarint(dst, uint64(field)<<3|wireBytes)
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// appendMessage appends an encoded message as a field of another one.
func appendMessage(dst []byte, field int, message []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(field)<<3|wireBytes)
	dst = binary.AppendUvarint(dst, uint64(len(message)))
	return append(dst, message...)
}

package protocol

import "encoding/binary"

// Version of the protocol. Both ends must have the same.
const Version = 3

// ProtocolID is what this game's tokens and datagrams name themselves by in netcode: "tickrat" and the version.
const ProtocolID = 0x7469636b72617400 | Version

var le = binary.LittleEndian

package protocol

import "encoding/binary"

// Version is the version of the protocol. Both ends must have the same.
const Version = 6

// ProtocolID is the netcode protocol id of this game's tokens and datagrams: "tickrat" and the
// version.
const ProtocolID = 0x7469636b72617400 | Version

var le = binary.LittleEndian

package protocol

import "github.com/tickrate/tickrate/netio/packet"

// Content is what a client can fetch from the server.
type Content uint8

// The contents. Zero is none.
const (
	ContentModel   Content = 1 // the compression models, as a model file
	ContentArena   Content = 2 // the arena, as a map file
	ContentKillcam Content = 3 // a recording of the last seconds after each death of the player
	lastContent            = ContentKillcam
)

// String names the content.
func (c Content) String() string {
	switch c {
	case ContentModel:
		return "model"
	case ContentArena:
		return "arena"
	case ContentKillcam:
		return "killcam"
	}
	return "?"
}

// MaxContent is the largest content that is sent, in bytes before compression.
const MaxContent = 1 << 20

// Valid reports whether there is such a content.
func (c Content) Valid() bool { return c >= ContentModel && c <= lastContent }

// FetchSize is the length of a Fetch.
const FetchSize = 1 + 1

// Fetch is a message from a client. A client that is not ready asks for content that the Welcome
// names by its hash; a client that is ready asks for killcams.
//
//	1  tag      0xf4
//	1  content  1 the model, 2 the arena, 3 killcams
type Fetch struct{ Content Content }

// Append writes f at the end of dst: FetchSize bytes.
func (f *Fetch) Append(dst []byte) []byte { return append(dst, MessageFetch, byte(f.Content)) }

// ParseFetch reads a Fetch. The error is a packet.Drop.
func ParseFetch(src []byte) (f Fetch, err error) {
	if len(src) != FetchSize || src[0] != MessageFetch || !Content(src[1]).Valid() {
		return f, packet.DropMessage
	}
	return Fetch{Content(src[1])}, nil
}

// MaxModelFile is the largest file of models that a client accepts, dictionaries included, before
// compression, in bytes.
const MaxModelFile = 64 << 10

// ContentTransferHead is the length of a ContentTransfer without its content.
const ContentTransferHead = 1 + 1 + 4

// ContentTransfer is the transfer that answers a Fetch. A killcam is stored, because its
// recording is compressed.
//
//	1  content
//	1  compression
//	4  size        before compression, not 0
//	n  compressed  1 byte or more
type ContentTransfer struct {
	Content     Content
	Compression uint8 // a method of package dict
	Size        uint32
	Compressed  []byte // ParseContentTransfer leaves it in src
}

// Append writes p at the end of dst.
func (p *ContentTransfer) Append(dst []byte) []byte {
	dst = append(dst, byte(p.Content), p.Compression)
	dst = le.AppendUint32(dst, p.Size)
	return append(dst, p.Compressed...)
}

// ParseContentTransfer reads a ContentTransfer. It checks neither the compression nor the size,
// but that the size is not 0. The error is a packet.Drop.
func ParseContentTransfer(src []byte) (p ContentTransfer, err error) {
	if len(src) <= ContentTransferHead || !Content(src[0]).Valid() || le.Uint32(src[2:]) == 0 {
		return p, packet.DropFragment
	}
	return ContentTransfer{Content(src[0]), src[1], le.Uint32(src[2:]), src[ContentTransferHead:]}, nil
}

package quake3

// Protocol 68 covers messages with a key that runs along a text: from byte 4 for messages of the
// server, from byte 12 for those of a client, as sv_net_chan.c and cl_net_chan.c have it.
const (
	serverClear = 4
	clientClear = 12
)

// scramble covers or uncovers, in place, the bytes of a message from clear on.
func scramble(message []byte, clear int, key int32, text string) {
	k, at := byte(key), 0
	for i := clear; i < len(message); i++ {
		if at >= len(text) {
			at = 0
		}
		if len(text) > 0 {
			b := text[at]
			if b > 127 || b == '%' {
				b = '.'
			}
			k ^= b << (i & 1)
			at++
		}
		message[i] ^= k
	}
}

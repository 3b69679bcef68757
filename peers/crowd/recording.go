package crowd

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"time"
)

// Datagram is one that a server sent, and when it arrived.
type Datagram struct {
	At   time.Duration // since the start
	Data []byte
}

// ReadRecording reads datagrams from a file: in each line the milliseconds since the start and the
// datagram, by base64.
func ReadRecording(file string) (all []Datagram, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		var ms int
		var coded string
		if _, err := fmt.Sscan(line, &ms, &coded); err != nil {
			return nil, fmt.Errorf("%s:%d: expected milliseconds and base64: %w", file, number, err)
		}
		data, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		all = append(all, Datagram{time.Duration(ms) * time.Millisecond, data})
	}
	return all, nil
}

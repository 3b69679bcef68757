package crowd

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"time"
)

// Replay gives a client what a server once sent: of each line of a file the milliseconds since the
// start and the datagram, by base64.
func Replay(file string, c Client) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		var ms int
		var coded string
		if _, err := fmt.Sscan(line, &ms, &coded); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		datagram, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		c.Receive(datagram, time.Duration(ms)*time.Millisecond)
	}
	return nil
}

//go:build !linux

package perfevent

// Counters count nothing on this system.
type Counters struct{}

// Open returns ErrSystem.
func Open(Config) (*Counters, error) { return nil, ErrSystem }

// Read returns ErrSystem.
func (c *Counters) Read() (Counts, error) { return Counts{}, ErrSystem }

// Close does nothing, also of nil Counters.
func (c *Counters) Close() {}

// Threads returns ErrSystem.
func Threads(int) ([]int, error) { return nil, ErrSystem }

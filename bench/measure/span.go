package measure

import (
	"encoding/json"
	"time"
)

// Span is a length of time that JSON has in milliseconds, as all times of reports.
type Span struct{ time.Duration }

// MarshalJSON writes a number of milliseconds.
func (s Span) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(s.Duration) / float64(time.Millisecond))
}

// UnmarshalJSON reads a number of milliseconds.
func (s *Span) UnmarshalJSON(text []byte) error {
	var ms float64
	if err := json.Unmarshal(text, &ms); err != nil {
		return err
	}
	s.Duration = time.Duration(ms * float64(time.Millisecond))
	return nil
}

package server

import "github.com/tickrate/tickrate/server/metrics"

// traffic are counts of datagrams that are not yet in metrics.Stats. They are plain numbers, since
// atomic additions for each datagram would show in the time of a tick.
type traffic struct {
	received, bytesIn, accepted uint64
	sent, bytesOut              uint64
}

func (t *traffic) receive(bytes int) {
	t.received++
	t.bytesIn += uint64(bytes)
}

func (t *traffic) send(bytes int) {
	t.sent++
	t.bytesOut += uint64(bytes)
}

// flush adds the counts to s and clears them.
func (t *traffic) flush(s *metrics.Stats) {
	s.Count[metrics.Received].Add(t.received)
	s.Count[metrics.BytesIn].Add(t.bytesIn)
	s.Count[metrics.Accepted].Add(t.accepted)
	s.Count[metrics.Sent].Add(t.sent)
	s.Count[metrics.BytesOut].Add(t.bytesOut)
	*t = traffic{}
}

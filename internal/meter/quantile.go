package meter

// Count is the number of values recorded.
func (h *Histogram) Count() int64 {
	h.reading.Lock()
	defer h.reading.Unlock()
	return h.fold().count
}

// Summary is what a histogram held at one moment. All of it is 0 when empty.
type Summary struct {
	Count               int64
	P50, P95, P99, P999 int64 // see Quantile
	Max                 int64
	Mean                float64
}

// Summary reads the count, the usual quantiles, the maximum and the mean of one moment. Single
// reads are of different moments while another goroutine records.
func (h *Histogram) Summary() Summary {
	h.reading.Lock()
	defer h.reading.Unlock()
	t := h.fold()
	return Summary{Count: t.count, Max: t.max, Mean: t.mean(), P50: t.quantile(h.resolution, 0.5),
		P95: t.quantile(h.resolution, 0.95), P99: t.quantile(h.resolution, 0.99),
		P999: t.quantile(h.resolution, 0.999)}
}

// Max is the largest value recorded, exactly; 0 when empty.
func (h *Histogram) Max() int64 {
	h.reading.Lock()
	defer h.reading.Unlock()
	return h.fold().max
}

// Mean is the exact arithmetic mean; 0 when empty.
func (h *Histogram) Mean() float64 {
	h.reading.Lock()
	defer h.reading.Unlock()
	return h.fold().mean()
}

// Quantile is the value that a share q of all records does not exceed, q in [0, 1], as exact as the
// resolution and never above Max; 0 when empty. Quantile(0.999) is the p99.9.
func (h *Histogram) Quantile(q float64) int64 {
	h.reading.Lock()
	defer h.reading.Unlock()
	return h.fold().quantile(h.resolution, q)
}

func (t *histogram) mean() float64 {
	if t.count == 0 {
		return 0
	}
	return float64(t.sum) / float64(t.count)
}

func (t *histogram) quantile(r Resolution, q float64) int64 {
	total := int64(0) // of buckets, which saturate
	for _, n := range t.buckets {
		total += int64(n)
	}
	rank := min(max(int64(q*float64(total)+0.5), 1), total)
	if rank == total {
		return t.max
	}
	for i, n := range t.buckets {
		if rank -= int64(n); rank <= 0 && n > 0 {
			return min(r.middle(i), t.max)
		}
	}
	return 0
}

// Clamped is the number of values that lay outside the range and were moved to its edge.
func (h *Histogram) Clamped() int64 {
	h.reading.Lock()
	defer h.reading.Unlock()
	return h.fold().clamped
}

// Snapshot makes dst equal to h as it is now; dst forgets what it held. Both must have the same
// range and differ.
func (h *Histogram) Snapshot(dst *Histogram) {
	dst.Reset()
	h.AddTo(dst)
}

// AddTo adds everything h holds to dst, which must be another histogram of the same range and
// resolution. h is left as it is.
func (h *Histogram) AddTo(dst *Histogram) {
	if h == dst || h.highest != dst.highest || h.resolution != dst.resolution {
		panic("meter: snapshot into itself or into another range")
	}
	h.reading.Lock()
	defer h.reading.Unlock()
	t := h.fold()
	dst.mu.Lock() // dst is the reader's own; a concurrent record waits
	defer dst.mu.Unlock()
	dst.live.add(t)
}

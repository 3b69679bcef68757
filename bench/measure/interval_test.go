package measure

import (
	"encoding/json"
	"math"
	"testing"
)

// The interval of one value is unknown, and JSON can hold it.
func TestIntervalOfOneValue(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, `{"mean":0,"plus_minus":null}`},
		{[]float64{3}, `{"mean":3,"plus_minus":null}`},
		{[]float64{3, 3}, `{"mean":3,"plus_minus":0}`},
		{[]float64{2, 4}, `{"mean":3,"plus_minus":12.7062}`},
	} {
		i, back := IntervalOf(c.values), Interval{}
		raw, err := json.Marshal(i)
		if err != nil || string(raw) != c.want {
			t.Errorf("%v: %s, %v; want %s", c.values, raw, err, c.want)
		}
		if err := json.Unmarshal(raw, &back); err != nil || back != i {
			t.Errorf("%v: %+v came back as %+v, %v", c.values, i, back, err)
		}
		if unknown := math.IsInf(i.HalfWidth, 1); unknown != (len(c.values) < 2) {
			t.Errorf("%v: %+v", c.values, i)
		}
	}
	if err := json.Unmarshal([]byte(`{"mean":"x"}`), new(Interval)); err == nil {
		t.Error("a mean that is no number was read")
	}
}

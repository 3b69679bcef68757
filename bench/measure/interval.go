package measure

import (
	"encoding/json"
	"math"
)

// Interval is a mean with its 95 % confidence interval (Student's t). A HalfWidth of +Inf is
// unknown, as that of a single value; JSON says null.
type Interval struct {
	Mean      float64
	HalfWidth float64
}

// intervalJSON is an Interval in JSON, which has no infinity.
type intervalJSON struct {
	Mean      float64  `json:"mean"`
	HalfWidth *float64 `json:"plus_minus"` // null: unknown
}

// MarshalJSON writes an unknown half width as null.
func (i Interval) MarshalJSON() ([]byte, error) {
	out := intervalJSON{Mean: i.Mean}
	if !math.IsInf(i.HalfWidth, 0) && !math.IsNaN(i.HalfWidth) {
		out.HalfWidth = &i.HalfWidth
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Interval) UnmarshalJSON(raw []byte) error {
	var in intervalJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*i = Interval{in.Mean, math.Inf(1)}
	if in.HalfWidth != nil {
		i.HalfWidth = *in.HalfWidth
	}
	return nil
}

// IntervalOf returns the interval of a sample; of fewer than two values HalfWidth is unknown.
func IntervalOf(values []float64) Interval {
	e := EstimateOf(values)
	if len(values) < 2 {
		return Interval{e.Mean, math.Inf(1)}
	}
	return Interval{e.Mean, student(len(values)-1) * e.StdErr}
}

// student returns the 97.5 % quantile of Student's t for df degrees of freedom, within 0.2 %.
func student(df int) float64 {
	table := [...]float64{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.447, 2.365, 2.306, 2.262, 2.228}
	if df <= len(table) {
		return table[df-1]
	}
	n := float64(df)
	return 1.95996 + 2.3723/n + 2.8225/(n*n) // Cornish-Fisher
}

// Estimate is a mean and its standard error.
type Estimate struct {
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"stderr"` // 0 for fewer than two values
}

// Times is e in another unit.
func (e Estimate) Times(by float64) Estimate { return Estimate{e.Mean * by, e.StdErr * by} }

// EstimateOf returns the mean of a sample and its standard error.
func EstimateOf(values []float64) (e Estimate) {
	n := float64(len(values))
	if n == 0 {
		return e
	}
	for _, x := range values {
		e.Mean += x / n
	}
	if n < 2 {
		return e
	}
	for _, x := range values {
		e.StdErr += sq(x - e.Mean)
	}
	e.StdErr = math.Sqrt(e.StdErr / (n - 1) / n)
	return e
}

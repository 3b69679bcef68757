package slo

// Defaults of a level.
const (
	DefaultTickHz    = 60
	DefaultSendEvery = 3
	DefaultExpr      = "p99(tick) <= 0.6*period && lost(input) == 0 && " +
		"lost(tick) <= 0.01*total(tick) && p99(age) <= 2*interval"
)

// Level is a service level. Zero fields mean the defaults above.
type Level struct {
	TickHz    int    `json:"tick_hz"`          // simulation rate, ticks a second
	SendEvery int    `json:"send_every_ticks"` // ticks between two snapshots to one client
	Expr      string `json:"expr"`             // comparisons joined by && and ||, see Help

	// The bounds that the expression states, for charts and for the search; Compile fills them in.
	TickLimitMillis float64 `json:"tick_limit_ms"` // least bound of p99 of tick, cpu or elapsed
	AgeLimitMillis  float64 `json:"age_limit_ms"`  // least bound of p99(age)
}

// WithDefaults returns l with its zero fields filled.
func (l Level) WithDefaults() Level {
	if l.TickHz <= 0 {
		l.TickHz = DefaultTickHz
	}
	if l.SendEvery <= 0 {
		l.SendEvery = DefaultSendEvery
	}
	if l.Expr == "" {
		l.Expr = DefaultExpr
	}
	return l
}

// PeriodMillis is the length of a tick.
func (l Level) PeriodMillis() float64 { return 1000 / float64(l.WithDefaults().TickHz) }

// IntervalMillis is the time between two snapshots to one client.
func (l Level) IntervalMillis() float64 {
	return l.PeriodMillis() * float64(l.WithDefaults().SendEvery)
}

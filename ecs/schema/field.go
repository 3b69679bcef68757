package schema

import "math"

// Field is one number of a row.
type Field struct {
	Name string // unique in its schema

	// Min and Max bound the values, both included. Both 0 allows every int32.
	Min, Max int32

	// Wrap makes values go round: they lie in [0, Wrap), and the shorter way counts as the
	// difference. 0 is a plain number; otherwise 2 to MaxWrap, and Min and Max stay 0.
	Wrap int32

	// Often is a hint for a model without training: the percentage of snapshots in which a live row
	// changes here, 1 to 100. 0 means 10. It is no part of the schema's hash.
	Often uint8

	// Predict says which of the rows known to both ends the difference is taken from. It is part of
	// the schema's hash.
	Predict Predictor

	// Spawn says what a new row has here, most of the time. It is part of the schema's hash.
	Spawn Spawn
}

// Spawn is the value that a field of a new row is coded as a difference to. See Model.Spawns.
type Spawn uint8

// The values of new rows.
const (
	SpawnZero Spawn = iota // 0, or the value in range that is nearest to it
	SpawnTick              // the tick of the snapshot, modulo Wrap
	// As SpawnZero; the lowest 4 bits choose the tables of later fields. One field at most.
	SpawnKind
	spawns
)

var spawnNames = [spawns]string{"zero", "tick", "kind"}

// String returns the word that tags use.
func (s Spawn) String() string {
	if s < spawns {
		return spawnNames[s]
	}
	return "?"
}

// Predictor is how a field is predicted from its baselines.
type Predictor uint8

// The classes of prediction.
const (
	Hold      Predictor = iota // the newest known value: for what jumps or rests
	Linear                     // goes on as between the two newest
	Quadratic                  // goes on as among the three newest
	// Whichever of the others did best for the newest, judged from values both ends know.
	Best
	predictors
)

var predictorNames = [predictors]string{"hold", "linear", "quadratic", "best"}

// String returns the word that tags use.
func (p Predictor) String() string {
	if p < predictors {
		return predictorNames[p]
	}
	return "?"
}

// MaxWrap is the greatest modulus: differences of two values must not overflow.
const MaxWrap = 1 << 30

// Range returns the least and the greatest value.
func (f Field) Range() (lo, hi int32) {
	switch {
	case f.Wrap != 0:
		return 0, f.Wrap - 1
	case f.Min == 0 && f.Max == 0:
		return math.MinInt32, math.MaxInt32
	default:
		return f.Min, f.Max
	}
}

// Clamp returns the nearest value in range, and for a field that wraps, the equal one.
func (f *Field) Clamp(v int32) int32 {
	switch {
	case f.Wrap != 0:
		if uint32(v) >= uint32(f.Wrap) {
			return round(v, f.Wrap)
		}
		return v
	case f.Min == 0 && f.Max == 0:
		return v
	}
	return min(max(v, f.Min), f.Max)
}

// round is v modulo wrap, never below 0.
func round(v, wrap int32) int32 {
	if v %= wrap; v < 0 {
		v += wrap
	}
	return v
}

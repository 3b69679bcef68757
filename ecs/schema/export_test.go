package schema

// Diff is Set.Diff for two schemas alone.
func Diff(a, b Schema) string { return list(diff(a, b)) }

// Squash is the table of probabilities.
var Squash = squash

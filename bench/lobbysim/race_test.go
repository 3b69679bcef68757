//go:build race

package lobbysim

const raceEnabled = true

//go:build race

package bottle

const raceEnabled = true

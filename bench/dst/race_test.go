//go:build race

package dst

const raceEnabled = true

package netstate

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

// BenchmarkPublicRow captures 256 players, by columns as a lobby does, beside the loop that one would
// write by hand: player by player, each value rounded and clamped in float32.
func BenchmarkPublicRow(b *testing.B) {
	players := make([]PlayerState, 256)
	for i := range players {
		n := int32(i)
		players[i].Restore([]int32{1000 * n, 20 * n, -256 * n, 16 * n, n - 128, n & 127, 1000 - n, n, n << 4, n << 5,
			n & 31, n & 2047})
	}
	columns := make([][]int32, PublicFields)
	for i := range columns {
		columns[i] = make([]int32, len(players))
	}
	rows := make([][PublicFields]int32, len(players))
	plainRows(rows, players)
	PlayerStateColumns(columns, players)
	for i := range rows {
		for f, v := range rows[i] {
			if columns[f][i] != v {
				b.Fatalf("player %d, field %d: %d, by the rival %d", i, f, columns[f][i], v)
			}
		}
	}
	for _, c := range []struct {
		name    string
		capture func()
	}{{"columns", func() { PlayerStateColumns(columns, players) }}, {"plain", func() { plainRows(rows, players) }}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.capture()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(players)), "ns/row")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// plainRows quantises players as their struct tags say, without care for values that are no number or
// beyond an int32.
func plainRows(rows [][PublicFields]int32, players []PlayerState) {
	metres := func(x float32) int32 {
		n := x*128 + 0.5
		v := int32(n)
		if float32(v) > n {
			v--
		}
		return min(max(v, -262144), 262144)
	}
	for i := range players {
		p := &players[i]
		rows[i] = [PublicFields]int32{
			metres(p.Pos.X), metres(p.Pos.Y), metres(p.Pos.Z),
			int32(uint16(p.Yaw+8) >> 4),
			min(max(int32(int16(p.Pitch)+8)>>4, -1024), 1024),
			int32(p.Flags),
			min(max(int32(p.Health), 0), 1000),
			int32(p.Shots),
			int32(p.Kills) | int32(min(p.Deaths, 32767))<<16,
			int32(min(p.Stance, 7)) | int32(min(p.Throws, 63))<<3 | schema.BoolBit(p.Sprinting)<<9 |
				schema.BoolBit(p.Reloading)<<10 | int32(min(p.Punches, 15))<<11 | int32(min(p.Gestures, 15))<<15 |
				int32(min(p.Gesture, 15))<<19 | int32(min(p.Hero, 15))<<23 | int32(min(p.Figure, 7))<<27,
			int32(p.Phase & 31),
			int32(min(p.Heading, 31)) | int32(min(p.Lean, 3))<<5 | int32(min(p.Gait, 3))<<7 |
				int32(min(p.Squat, 3))<<9,
		}
	}
}

package impair

import (
	"testing"
	"time"
)

// One datagram of 100 bytes pushed and one popped with 64 on their way, by profile.
func BenchmarkPushPop(b *testing.B) {
	data := make([]byte, 100)
	cases := []Preset{Presets()[0], Presets()[2], {Name: "everything", Profile: everything}}
	const gap = 80 * ms / 64
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			l, now := New(c.Profile, 1), time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				now += gap
				l.Push(now, data, 0)
				for _, _, ok := l.Pop(now); ok; _, _, ok = l.Pop(now) {
				}
			}
		})
	}
}

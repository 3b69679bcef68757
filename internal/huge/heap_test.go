//go:build linux

package huge

import (
	"bytes"
	"os"
	"runtime"
	"testing"
	"unsafe"
)

// What the heap holds is still there afterwards, wherever it is; and the heap is among the regions that are asked for.
func TestHeapKeepsWhatItHolds(t *testing.T) {
	const many = 24 << 20
	data := make([]byte, many)
	for i := range data {
		data[i] = byte(i * 7)
	}
	at, found := uintptr(unsafe.Pointer(&data[0])), false
	for _, r := range regions() {
		found = found || r.from <= at && at < r.end
	}
	if !found {
		t.Fatal("the heap is in no region")
	}
	rests := 0
	got := Heap(func() { rests++ })
	if rests < got/page {
		t.Errorf("%d rests for %d pages", rests, got/page)
	}
	for i := range data {
		if data[i] != byte(i*7) {
			t.Fatalf("byte %d is %d", i, data[i])
		}
	}
	runtime.GC()
	if again := Heap(func() {}); again < got/2 {
		t.Errorf("%d bytes in large pages, then %d", got, again)
	}
	if mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil && !bytes.Contains(mode, []byte("[never]")) && got == 0 {
		t.Skip("the kernel has large pages, and gave none: too old, or short of memory")
	}
	runtime.KeepAlive(data)
}

func TestParse(t *testing.T) {
	for i, c := range []struct {
		line string
		want region
		ok   bool
	}{
		{"14f80ec00000-14f815000000 rw-p 00000000 00:00 0 ", region{0x14f80ec00000, 0x14f815000000}, true},
		{"c000000000-c004000000 rw-p 00000000 00:00 0                              [anon: Go: heap]", region{0xc000000000, 0xc004000000}, true},
		{"1b79c000-1b7bd000 rw-p 00000000 00:00 0                                  [heap]", region{}, false},
		{"7ffe0000-7fff0000 rw-p 00000000 00:00 0                                  [stack]", region{}, false},
		{"01dec000-023a7000 rw-p 019ec000 fe:00 11028524                           /bin/x", region{}, false},
		{"c000000000-c004000000 ---p 00000000 00:00 0 ", region{}, false},
		{"z-c004000000 rw-p 00000000 00:00 0 ", region{}, false},
		{"", region{}, false},
	} {
		if r, ok := parse([]byte(c.line)); ok != c.ok || ok && r != c.want {
			t.Errorf("%d: %x, %v", i, r, ok)
		}
	}
}

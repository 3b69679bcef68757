//go:build linux

package hugepage

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The heap keeps its content, and is among the regions that are advised.
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
	got := CollapseHeap(context.Background(), func() { rests++ })
	if rests < got/page {
		t.Errorf("%d rests for %d pages", rests, got/page)
	}
	for i := range data {
		if data[i] != byte(i*7) {
			t.Fatalf("byte %d is %d", i, data[i])
		}
	}
	runtime.GC()
	if again := CollapseHeap(context.Background(), func() {}); again < got/2 {
		t.Errorf("%d bytes in huge pages, then %d", got, again)
	}
	if mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil &&
		!bytes.Contains(mode, []byte("[never]")) && got == 0 {
		t.Skip("the kernel has huge pages, and gave none: too old, or short of memory")
	}
	runtime.KeepAlive(data)
}

// Prefault maps the pages that the heap has reserved but not written, and keeps their content.
func TestTouchBringsWhatWasAskedFor(t *testing.T) {
	for _, large := range []bool{false, true} {
		data := make([]byte, 24<<20)
		// it may be of a test before
		if errno := advise(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)),
			unix.MADV_DONTNEED); errno != 0 {
			t.Fatal(errno)
		}
		for i := 0; i < len(data); i += 3 << 20 { // of some huge pages a part is there
			data[i] = byte(1 + i>>20)
		}
		before := resident(t, data)
		prefault := Prefault
		if large {
			prefault = PrefaultHuge
		}
		got := prefault(context.Background())
		if got == 0 {
			t.Skip("the system cannot be asked")
		}
		if after := resident(t, data); before == len(data) || after != len(data) || got < after {
			t.Errorf("large %v: %d of %d bytes are there, before %d; Touch says %d", large, after,
				len(data), before, got)
		}
		for i, b := range data {
			if i%(3<<20) == 0 && b != byte(1+i>>20) || i%(3<<20) != 0 && b != 0 {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
	}
}

// Prefault stops at the page at which its context ends and leaves the rest of the heap as it is.
func TestHeapStopsWhereItsContextEnds(t *testing.T) {
	data := make([]byte, 24<<20)
	data[0] = 1
	const least = 3
	pages, ctx := 0, context.Background()
	if CollapseHeap(ctx, func() { pages++ }); pages < least {
		t.Skip("the kernel has no huge pages for those who ask")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pages = 0
	CollapseHeap(ctx, func() {
		if pages++; pages == least-1 {
			stop()
		}
	})
	if pages != least-1 {
		t.Errorf("stopped at page %d, and %d were moved", least-1, pages)
	}
	if errno := advise(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)),
		unix.MADV_DONTNEED); errno != 0 {
		t.Fatal(errno)
	}
	before := resident(t, data)
	if got := Prefault(ctx); got != 0 || resident(t, data) != before {
		t.Errorf("touched though the context has ended: %d bytes, of %d there are %d, before %d", got,
			len(data), resident(t, data), before)
	}
	runtime.KeepAlive(data)
}

// resident returns the number of bytes of data in memory, by pages.
func resident(t *testing.T, data []byte) (bytes int) {
	t.Helper()
	small := os.Getpagesize()
	in := make([]byte, (len(data)+small-1)/small)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)),
		uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, b := range in {
		bytes += int(b&1) * small
	}
	return bytes
}

func TestParse(t *testing.T) {
	for i, c := range []struct {
		line string
		want region
		ok   bool
	}{
		{"14f80ec00000-14f815000000 rw-p 00000000 00:00 0 ", region{0x14f80ec00000, 0x14f815000000}, true},
		{"c000000000-c004000000 rw-p 00000000 00:00 0                              [anon: Go: heap]",
			region{0xc000000000, 0xc004000000}, true},
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

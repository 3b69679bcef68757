package host

import (
	"context"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// A host that prefaults its memory also has the memory of the next map before the map changes.
// Without prefault, pages come with the first write. Prefaulting keeps the content.
func TestHostTouchesTheNextMap(t *testing.T) {
	for _, touch := range []bool{false, true} {
		cfg := hostConfig("mmsg")
		cfg.Maps = func(c server.MapSpec) (g server.LoadedMap, err error) {
			g.Arena, err = arena.Open(c.Map)
			g.Name = c.Map
			return g, err
		}
		if touch {
			cfg.Prefault = func() {}
		}
		h, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 8<<20) // of the heap, and as what was never written to
		if err := unix.Madvise(data, unix.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		data[5] = 7
		f := h.prepareMap(h.initial(), server.MapSpec{Map: "arena-64"})
		if f.err != nil {
			t.Fatal(f.err)
		}
		if came := pagesNotInMemory(t, data) == 0; came != touch &&
			(!touch || hugepage.Prefault(context.Background()) != 0) {
			t.Errorf("touch %v: all there %v", touch, came)
		}
		if data[5] != 7 || data[6] != 0 {
			t.Errorf("touch %v: %v", touch, data[:8])
		}
		runtime.KeepAlive(data)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	}
}

// pagesNotInMemory returns the number of pages of data that are not in memory.
func pagesNotInMemory(t *testing.T, data []byte) (pages int) {
	t.Helper()
	small := os.Getpagesize()
	in := make([]byte, (len(data)+small-1)/small)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])),
		uintptr(len(data)), uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, b := range in {
		pages += int(1 - b&1)
	}
	return pages
}

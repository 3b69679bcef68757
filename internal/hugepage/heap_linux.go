package hugepage

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	page = 2 << 20

	// reach is how far from any object of the heap the rest of it may lie. What lies further off is
	// no heap: stacks of threads, files.
	reach = 1 << 36
)

// CollapseHeap requests huge pages for the current heap and moves it there, one page after the
// other, calling rest in between: a page takes some tenths of a millisecond, during which other
// threads cannot use it. Later growth needs another call. It returns the bytes in huge pages; 0
// where the system has none. It only moves memory, except that untouched parts of a page become
// resident. When ctx ends it stops after the current page.
func CollapseHeap(ctx context.Context, rest func()) (bytes int) {
	probe := new([64]byte)
	near := uintptr(unsafe.Pointer(probe))
	for _, r := range regions() {
		from, end := (r.from+page-1)&^uintptr(page-1), r.end&^uintptr(page-1)
		if end <= from || far(r.from, near) {
			continue
		}
		if advise(from, end-from, unix.MADV_HUGEPAGE) != 0 {
			continue
		}
		// one at a time: one that cannot be moved does not keep the others
		for ; from < end && ctx.Err() == nil; from += page {
			if advise(from, page, unix.MADV_COLLAPSE) == 0 {
				bytes += page
			}
			rest()
		}
	}
	*probe = [64]byte{} // it lived until here
	return bytes
}

// Prefault makes all memory that the heap has requested resident, which otherwise happens at the
// first write to each page: where a virtual machine returns free memory to its host, such a write
// takes 5 ms for a page of 2 MiB. Nothing is moved, so other threads may go on. It returns the
// resident bytes; 0 where the system cannot do it. It takes as long as all those writes, and other
// requests for memory wait meanwhile. When ctx ends it stops after the current page.
func Prefault(ctx context.Context) (bytes int) { return prefault(ctx, smallPages) }

// PrefaultHuge is Prefault in pages of 2 MiB, where the system has any; memory that is there
// already is moved into them, as by CollapseHeap, while other threads wait for it.
func PrefaultHuge(ctx context.Context) (bytes int) { return prefault(ctx, hugePages) }

// pageSize says which pages prefault asks for.
type pageSize uint8

const (
	smallPages pageSize = iota
	hugePages
)

func prefault(ctx context.Context, size pageSize) (bytes int) {
	probe := new([64]byte)
	near := uintptr(unsafe.Pointer(probe))
	for _, r := range regions() {
		if far(r.from, near) {
			continue
		}
		if size == hugePages {
			advise(r.from, r.end-r.from, unix.MADV_HUGEPAGE)
		}
		for from := r.from; from < r.end && ctx.Err() == nil; {
			end := min(from&^uintptr(page-1)+page, r.end)
			// Where some of it has been written to already, the rest would come in small pages.
			moved := size == hugePages && end-from == page && advise(from, page, unix.MADV_COLLAPSE) == 0
			if moved || advise(from, end-from, unix.MADV_POPULATE_WRITE) == 0 {
				bytes += int(end - from)
			}
			from = end
		}
	}
	*probe = [64]byte{} // it lived until here
	return bytes
}

func far(a, b uintptr) bool { return max(a, b)-min(a, b) > reach }

func advise(from, size uintptr, advice uintptr) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, from, size, advice)
	return errno
}

// region is a stretch of writable memory that is no file's.
type region struct{ from, end uintptr }

// regions lists those of this process.
func regions() (all []region) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if r, ok := parse(lines.Bytes()); ok {
			all = append(all, r)
		}
	}
	return all
}

// parse reads a line of maps: address-address rw-p offset device inode [name].
func parse(line []byte) (r region, ok bool) {
	f := bytes.Fields(line)
	if len(f) < 5 || string(f[1]) != "rw-p" || string(f[4]) != "0" || len(f) > 5 &&
		!bytes.HasPrefix(f[5], []byte("[anon")) {
		return r, false
	}
	from, end, _ := bytes.Cut(f[0], []byte("-"))
	a, err := strconv.ParseUint(string(from), 16, 64)
	b, bad := strconv.ParseUint(string(end), 16, 64)
	return region{uintptr(a), uintptr(b)}, err == nil && bad == nil
}

// Package ringbuf keeps the newest items of a stream in bounded memory. Items go in one by one;
// they come out either once each and in order (Pop), or repeatedly by their number (Since). One
// goroutine owns a Ring.
package ringbuf

// Ring holds the newest items up to its capacity; a new item replaces the oldest one of a full
// ring. Items are numbered from 0 in the order in which they came. The memory is made with the
// first item, or by Alloc. The zero value is empty; use New before the first item.
type Ring[T any] struct {
	items    []T
	capacity int
	in, out  uint64 // number of the next item to come; of the next item to pop
	lost     uint64
}

// New returns an empty ring for n items, at least one.
func New[T any](n int) Ring[T] { return Ring[T]{capacity: max(n, 1)} }

// Alloc makes the memory now, so that adding items never allocates.
func (r *Ring[T]) Alloc() {
	if r.items == nil {
		r.items = make([]T, r.capacity)
	}
}

// Next adds an item and returns its place for the caller to fill. It still holds an older item.
func (r *Ring[T]) Next() *T {
	r.Alloc()
	if r.in-r.out == uint64(len(r.items)) {
		r.out++
		r.lost++
	}
	at := &r.items[r.in%uint64(len(r.items))]
	r.in++
	return at
}

// Push adds an item.
func (r *Ring[T]) Push(item T) { *r.Next() = item }

// Pop returns the oldest item that was not popped yet and forgets it; false if there is none.
func (r *Ring[T]) Pop() (item T, ok bool) {
	if r.in == r.out {
		return item, false
	}
	at := &r.items[r.out%uint64(len(r.items))]
	r.out++
	var none T
	item, *at = *at, none
	return item, true
}

// Len returns how many items wait for Pop.
func (r *Ring[T]) Len() int { return int(r.in - r.out) }

// Added returns how many items ever came: the number of the next one.
func (r *Ring[T]) Added() uint64 { return r.in }

// Lost returns how many items were replaced before Pop returned them.
func (r *Ring[T]) Lost() uint64 { return r.lost }

// At returns the item with a number. It must be one of the newest that the ring has room for.
func (r *Ring[T]) At(number uint64) *T { return &r.items[number%uint64(len(r.items))] }

// First returns the number of the oldest item that Since can return, and at least from.
func (r *Ring[T]) First(from uint64) uint64 {
	return max(from, r.in-min(r.in, uint64(len(r.items))))
}

// Since appends to out the items numbered from on that are still there, oldest first. It is for
// rings that are never popped.
func (r *Ring[T]) Since(from uint64, out []T) []T {
	for n := r.First(from); n < r.in; n++ {
		out = append(out, *r.At(n))
	}
	return out
}

// Reset forgets all items and counts and keeps the memory.
func (r *Ring[T]) Reset() {
	clear(r.items)
	r.in, r.out, r.lost = 0, 0, 0
}

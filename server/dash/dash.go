package dash

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// MaxReaders is the most streams at a time.
const MaxReaders = 16

// How a stream is kept.
const (
	lookEvery   = 50 * time.Millisecond // for a new frame
	readTimeout = 5 * time.Second       // until a reader that takes nothing is closed
	// after which an idle stream sends a comment, to find readers that are gone
	quiet        = 10 * time.Second
	readerFrames = 2 // that wait for a reader
)

// Dash is the live page of one lobby. The goroutine that makes frames calls Watched, Next and
// Publish; all else is for any goroutine.
type Dash struct {
	// Set before the first reader. They are called, from any goroutine, for each frame that a
	// reader had no room for, each reader that was closed because it took nothing, and each reader
	// that was refused because of MaxReaders. nil: not counted.
	Dropped, Kicked, Refused func()

	about       []byte // as text
	buffer      tripleBuffer
	maps        atomic.Pointer[[]byte] // as text
	watching    atomic.Bool
	readTimeout time.Duration

	ended chan struct{} // closed with the page

	running sync.WaitGroup // the goroutine of encode

	mu       sync.Mutex // guards the fields below
	readers  map[*reader]struct{}
	encoding bool // that goroutine runs
	closed   bool
}

// reader is one stream.
type reader struct {
	frames chan []byte
	missed atomic.Uint64 // frames that it had no room for
}

// New makes a page without readers. It allocates all its memory: three times some 200 bytes for
// each of a.MaxPlayers.
func New(a About) *Dash {
	d := &Dash{about: event("about", a), ended: make(chan struct{}),
		readers: make(map[*reader]struct{}), readTimeout: readTimeout}
	d.buffer.init(&a)
	d.SetMap(Map{})
	return d
}

// SetMap changes the map.
func (d *Dash) SetMap(m Map) {
	text := encode(m)
	d.maps.Store(&text)
}

// Watched reports whether the page has readers.
func (d *Dash) Watched() bool { return d.watching.Load() }

// Next returns an empty frame to fill. It belongs to the caller until Publish.
func (d *Dash) Next() *Frame {
	f := d.buffer.next()
	f.reset()
	return f
}

// Publish makes the frame of Next the newest one for readers. It neither waits nor allocates.
func (d *Dash) Publish() { d.buffer.publish() }

// Close ends all streams and refuses new ones.
func (d *Dash) Close() {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.ended)
	}
	d.mu.Unlock()
	d.running.Wait()
}

// join adds a reader, nil if there are too many. The first starts the goroutine that encodes
// frames.
func (d *Dash) join() *reader {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.readers) == MaxReaders {
		return nil
	}
	r := &reader{frames: make(chan []byte, readerFrames)}
	d.readers[r] = struct{}{}
	d.watching.Store(true)
	if !d.encoding {
		d.encoding = true
		d.running.Add(1)
		go d.encodeFrames()
	}
	return r
}

func (d *Dash) leave(r *reader) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.readers, r)
	if len(d.readers) == 0 {
		d.watching.Store(false)
	}
}

// encodeFrames encodes frames while there are readers.
func (d *Dash) encodeFrames() {
	defer d.running.Done()
	d.buffer.take() // an old frame
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for d.needed() {
		select {
		case <-d.ended:
		case <-every.C:
			if f := d.buffer.take(); f != nil {
				f.Dropped = d.buffer.lost.Load()
				d.broadcast(event("frame", f))
			}
		}
	}
}

// needed reports whether encodeFrames goes on. If not, the next reader starts it again.
func (d *Dash) needed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.encoding = len(d.readers) > 0 && !d.closed
	return d.encoding
}

// broadcast sends a frame to all readers. It never waits: a slow reader loses its oldest frame.
func (d *Dash) broadcast(text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for r := range d.readers {
		for done := false; !done; {
			select {
			case r.frames <- text:
				done = true
			default:
				d.dropOldest(r)
			}
		}
	}
}

// dropOldest removes the oldest frame that waits for a reader, which makes room: there is one
// writer.
func (d *Dash) dropOldest(r *reader) {
	select {
	case <-r.frames:
		r.missed.Add(1)
		count(d.Dropped)
	default: // the reader has just taken one
	}
}

// count calls a counter, if there is one.
func count(as func()) {
	if as != nil {
		as()
	}
}

// event is a server-sent event.
func event(name string, v any) []byte {
	return append(append([]byte("event: "+name+"\ndata: "), encode(v)...), "\n\n"...)
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte("null") // a number that is none, which Frame's makers do not write
	}
	return text
}

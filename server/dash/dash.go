package dash

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// MaxReaders is how many streams there are at a time.
const MaxReaders = 16

// How a stream is kept.
const (
	lookEvery    = 50 * time.Millisecond // for a new frame
	patience     = 5 * time.Second       // with a reader that takes nothing
	quiet        = 10 * time.Second      // after which a stream with nothing to tell says so, which finds readers who are gone
	readerFrames = 2                     // that wait for a reader
)

// Dash is the page of one lobby. One goroutine makes frames: Watched, Next and Hang are for it. All else may be called from any.
type Dash struct {
	// Set before the first reader, these are called, from any goroutine, for each frame that a reader had no room for, each reader who
	// was let go because it took nothing for seconds, and each who was refused because too many watch. nil: nobody counts.
	Dropped, Kicked, Refused func()

	about    []byte // as text
	board    board
	maps     atomic.Pointer[[]byte] // as text
	watching atomic.Bool
	patience time.Duration

	ended chan struct{} // closed with the page

	running sync.WaitGroup // the goroutine that makes text

	mu      sync.Mutex // of what follows
	readers map[*reader]struct{}
	telling bool // that goroutine runs
	closed  bool
}

// reader is one stream.
type reader struct {
	frames chan []byte
	missed atomic.Uint64 // frames that it had no room for
}

// New makes a page that nobody watches. It takes its memory here: some 200 bytes for each of a.MaxPlayers, three times.
func New(a About) *Dash {
	d := &Dash{about: event("about", a), ended: make(chan struct{}), readers: make(map[*reader]struct{}), patience: patience}
	d.board.init(a.MaxPlayers, len(a.Stages), len(a.Parts), len(a.Bones))
	d.SetMap(Map{})
	return d
}

// SetMap changes the map.
func (d *Dash) SetMap(m Map) {
	text := encode(m)
	d.maps.Store(&text)
}

// Watched says whether anybody would see a frame.
func (d *Dash) Watched() bool { return d.watching.Load() }

// Next is the frame to fill, with nothing in it. It is the caller's until Hang.
func (d *Dash) Next() *Frame {
	f := d.board.next()
	f.reset()
	return f
}

// Hang hangs up the frame that Next gave. It neither waits nor allocates.
func (d *Dash) Hang() { d.board.hang() }

// Close ends every stream, and there will be no others.
func (d *Dash) Close() {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.ended)
	}
	d.mu.Unlock()
	d.running.Wait()
}

// join adds a reader, nil if there are too many. With the first begins the goroutine that makes text.
func (d *Dash) join() *reader {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.readers) == MaxReaders {
		return nil
	}
	r := &reader{frames: make(chan []byte, readerFrames)}
	d.readers[r] = struct{}{}
	d.watching.Store(true)
	if !d.telling {
		d.telling = true
		d.running.Add(1)
		go d.tell()
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

// tell turns frames into text for as long as anybody watches.
func (d *Dash) tell() {
	defer d.running.Done()
	d.board.take() // what is left of an earlier time
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for d.needed() {
		select {
		case <-d.ended:
		case <-every.C:
			if f := d.board.take(); f != nil {
				f.Missed = d.board.lost.Load()
				d.share(event("frame", f))
			}
		}
	}
}

// needed says whether tell goes on. When it does not, the next reader starts it anew.
func (d *Dash) needed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.telling = len(d.readers) > 0 && !d.closed
	return d.telling
}

// share gives text to all readers who have room for it.
func (d *Dash) share(text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for r := range d.readers {
		for done := false; !done; {
			select {
			case r.frames <- text:
				done = true
			default:
				d.drop(r)
			}
		}
	}
}

// drop takes the oldest frame that waits for a reader: nobody else gives it any, so then there is room.
func (d *Dash) drop(r *reader) {
	select {
	case <-r.frames:
		r.missed.Add(1)
		count(d.Dropped)
	default: // it has just taken one itself
	}
}

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

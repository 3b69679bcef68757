package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/sim"
)

// recordedFile is a recording of some seconds as a FileWriter writes it.
func recordedFile(t testing.TB, pack *Packer) []byte {
	h, all := pieces(t, 3)
	b := newBound(1 << 30)
	b.Pack = pack
	for i, c := range all {
		if i == 0 {
			b.WriteFirst(&h, c)
		} else {
			b.Write(&h, c)
		}
	}
	b.Close()
	return b.sheets[0].data
}

// headSize is where the first chunk of a file begins.
func headSize(file []byte) int { return headStart + int(binary.LittleEndian.Uint16(file[5:])) + 4 }

// refused plays a file and says what is wrong with it, nil if nothing is. What is wrong has a place
// in the file, or is of the match in it.
func refused(t testing.TB, file []byte) error {
	t.Helper()
	_, _, err := again(t, file)
	var d *Divergence
	switch {
	case err == nil, errors.As(err, &d), errors.Is(err, ErrRules), errors.Is(err, sim.ErrState),
		errors.Is(err, ErrGap), strings.HasPrefix(err.Error(), "sim: replay:"):
	case !errors.Is(err, ErrFormat):
		t.Fatalf("%v", err)
	case !strings.Contains(err.Error(), "byte ") && !strings.Contains(err.Error(), "log"):
		t.Fatalf("no place in %v", err)
	}
	return err
}

// TestThreat37HostileReplay: a file in which any bit is another is refused, and the error names the
// byte at which the piece begins that is wrong; one that says it is enormous costs no memory.
func TestThreat37HostileReplay(t *testing.T) {
	file := recordedFile(t, NewPacker())
	if err := refused(t, file); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(file); at += 1 + at/40 {
		bad := bytes.Clone(file)
		bad[at] ^= 1 << (at % 8)
		if err := refused(t, bad); err == nil || !errors.Is(err, ErrFormat) {
			t.Errorf("byte %d is another: %v", at, err)
		}
	}
	head := headSize(file)
	for _, lie := range []int{11, 15, 19, 23} { // sizes
		bad := bytes.Clone(file)
		copy(bad[head+lie:], []byte{0xff, 0xff, 0xff, 0x00})
		var before, after runtime.MemStats
		r, err := NewReader(bytes.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		_, err = r.Next()
		runtime.ReadMemStats(&after)
		r.Close()
		if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), "byte ") || took > 4<<20 {
			t.Errorf("size at %d: %v, %d bytes taken", lie, err, took)
		}
	}
}

// FuzzReplay reads and plays any bytes: it ends, and says where a file is wrong. What is read is
// never longer than the file says that it may become.
func FuzzReplay(f *testing.F) {
	whole := recordedFile(f, NewPacker())
	f.Add(whole)
	f.Add(recordedFile(f, nil))
	f.Add(whole[:len(whole)-footerSize])
	f.Add(whole[:len(whole)/2])
	f.Add(whole[:headSize(whole)])
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		_ = refused(t, file)
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			return
		}
		defer r.Close()
		r.Limit = 1 << 20
		for sum := 0; ; {
			c, err := r.Next()
			if err != nil {
				if err == io.EOF && r.Offset() != int64(len(file)) {
					t.Fatalf("over at byte %d of %d", r.Offset(), len(file))
				}
				return
			}
			if sum += len(c.Key) + len(c.Log); sum > r.Limit || c.Ticks < 1 || c.Ticks > MaxChunkTicks ||
				c.Last() > math.MaxInt32 {
				t.Fatalf("%d ticks from %d, %d bytes", c.Ticks, c.First, sum)
			}
		}
	})
}

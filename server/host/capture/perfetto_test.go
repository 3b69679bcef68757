package capture

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// message is a decoded protobuf message: the values of each field, numbers or bytes.
type message map[int][]any

// decode decodes a message of numbers and bytes, by field numbers alone.
func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("bad key in %x", b)
		}
		b = b[n:]
		v, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("bad value in %x", b)
		}
		b = b[n:]
		field := int(key >> 3)
		switch key & 7 {
		case 0:
			m[field] = append(m[field], v)
		case 2:
			if v > uint64(len(b)) {
				t.Fatalf("field %d of %d bytes, %d left", field, v, len(b))
			}
			m[field], b = append(m[field], b[:v]), b[v:]
		default:
			t.Fatalf("field %d has wire type %d", field, key&7)
		}
	}
	return m
}

func (m message) number(field int) uint64 {
	if len(m[field]) != 1 {
		return 0
	}
	n, _ := m[field][0].(uint64)
	return n
}

func (m message) bytes(field int) []byte {
	if len(m[field]) != 1 {
		return nil
	}
	b, _ := m[field][0].([]byte)
	return b
}

// decodeTrace returns the slices of a trace in Perfetto's format, as "track/child: name from-to", in
// microseconds. The field numbers are those that Perfetto publishes: Trace.packet 1; TracePacket
// timestamp 8, trusted_packet_sequence_id 10, track_event 11, track_descriptor 60; TrackEvent type 9,
// track_uuid 11, name 23; TrackDescriptor uuid 1, name 2, parent_uuid 5.
func decodeTrace(t *testing.T, trace []byte) (all []string) {
	t.Helper()
	type slice struct {
		name string
		from uint64
	}
	tracks, open := map[uint64]string{}, map[uint64][]slice{}
	for _, p := range decode(t, trace)[1] {
		packet := decode(t, p.([]byte))
		if packet.number(10) == 0 {
			t.Fatal("a packet without a sequence")
		}
		if d := packet.bytes(60); d != nil {
			track := decode(t, d)
			name := string(track.bytes(2))
			if parent := track.number(5); parent != 0 {
				name = tracks[parent] + "/" + name
			}
			tracks[track.number(1)] = name
			continue
		}
		event, at := decode(t, packet.bytes(11)), packet.number(8)
		track := event.number(11)
		if tracks[track] == "" {
			t.Fatalf("event on track %d, which has no descriptor", track)
		}
		stack := open[track]
		switch event.number(9) {
		case 1:
			open[track] = append(stack, slice{string(event.bytes(23)), at})
		case 2:
			top := stack[len(stack)-1]
			open[track] = stack[:len(stack)-1]
			all = append(all, fmt.Sprintf("%s: %s %d-%d", tracks[track], top.name, top.from/1000, at/1000))
		default:
			t.Fatalf("event of type %d", event.number(9))
		}
	}
	for track, left := range open {
		if len(left) > 0 {
			t.Errorf("track %s: %v are not ended", tracks[track], left)
		}
	}
	return all
}

// The trace for Perfetto has a track for each lobby and stage, for system calls and for disturbances;
// in the captured tick it has connections by name.
func TestPerfettoTrace(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	stage := func(at int, lobby uint32, s metrics.Stage) mark { return mark{us(at), lobby, uint32(s), kindStage} }
	e := evidence{tick: Tick{Lobby: &Lobby{id: 2}, Last: 8}, about: Facts{Conns: []Conn{{Slot: 4, Name: "ada"}}}}
	var marks []mark
	for i := range 2 {
		at := 1000 * i
		marks = append(marks,
			stage(at+5, Port, metrics.StageReceive),
			mark{us(at + 6), Port, 0, kindReceive}, mark{us(at + 9), Port, 64, kindCall},
			stage(at+10, Port, metrics.StageIdle),
			stage(at+20, 2, metrics.StageReceive), stage(at+30, 2, metrics.StageSnapshot),
			mark{us(at + 40), 2, 4, kindConn}, mark{us(at + 50), 2, 6, kindConn},
			stage(at+60, 2, metrics.StageIdle),
			stage(at+70, 3, metrics.StageCapture), stage(at+80, 3, metrics.StageIdle),
			mark{us(at + 90), 2, uint32(7 + i), kindTick}, mark{us(at + 91), 3, uint32(70 + i), kindTick})
	}
	got := decodeTrace(t, e.timeline(marks, disturbances{
		pauses:  []span{{us(1000), us(1010)}, {us(1), us(2)}}, // the second is before all marks
		hiccups: []span{{us(900), us(1020)}},
	}))
	want := []string{
		"lobby 2: tick 7 20-60", "lobby 2: tick 8 1020-1060",
		"lobby 2/receive: receive 20-30", "lobby 2/snapshot: snapshot 30-60",
		"lobby 2/receive: receive 1020-1030",
		"lobby 2/snapshot: ada 1040-1050", "lobby 2/snapshot: slot 6 1050-1060",
		"lobby 2/snapshot: snapshot 1030-1060",
		"lobby 3: tick 70 70-80", "lobby 3: tick 71 1070-1080",
		"lobby 3/capture: capture 70-80", "lobby 3/capture: capture 1070-1080",
		"port/receive: receive 5-10", "port/receive: receive 1005-1010",
		"system calls: receive 6-9", "system calls: receive 1006-1009",
		"garbage collections: stop the world 1000-1010",
		"machine hiccups: an idle thread woke late 900-1020",
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			t.Errorf("%d: got %q, want %q", i, append(got, make([]string, 99)...)[i], append(want, make([]string, 99)...)[i])
		}
	}
}

package capture

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tickrate/tickrate/server/metrics"
)

// published are the fields that Perfetto publishes in protos/perfetto/trace of its repository, as far
// as a trace of slices needs them: message, field, number, type.
var published = []struct {
	message, field string
	number         int32
	kind           any // a type of protobuf, or the name of a message or an enum
}{
	{"Trace", "packet", 1, "TracePacket"}, // repeated
	{"TracePacket", "timestamp", 8, descriptorpb.FieldDescriptorProto_TYPE_UINT64},
	{"TracePacket", "trusted_packet_sequence_id", 10, descriptorpb.FieldDescriptorProto_TYPE_UINT32},
	{"TracePacket", "track_event", 11, "TrackEvent"},
	{"TracePacket", "track_descriptor", 60, "TrackDescriptor"},
	{"TrackEvent", "debug_annotations", 4, "DebugAnnotation"}, // repeated
	{"TrackEvent", "type", 9, "Type"},
	{"TrackEvent", "track_uuid", 11, descriptorpb.FieldDescriptorProto_TYPE_UINT64},
	{"TrackEvent", "name", 23, descriptorpb.FieldDescriptorProto_TYPE_STRING},
	{"TrackDescriptor", "uuid", 1, descriptorpb.FieldDescriptorProto_TYPE_UINT64},
	{"TrackDescriptor", "name", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING},
	{"TrackDescriptor", "parent_uuid", 5, descriptorpb.FieldDescriptorProto_TYPE_UINT64},
	{"DebugAnnotation", "uint_value", 3, descriptorpb.FieldDescriptorProto_TYPE_UINT64},
	{"DebugAnnotation", "name", 10, descriptorpb.FieldDescriptorProto_TYPE_STRING},
}

// publishedTypes are the values of TrackEvent.Type, from 0.
var publishedTypes = []string{"TYPE_UNSPECIFIED", "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_INSTANT", "TYPE_COUNTER"}

// traceDescriptor makes a descriptor of the message Trace out of the published fields.
func traceDescriptor(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	const scope = "perfetto.protos"
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("perfetto_trace.proto"),
		Syntax: proto.String("proto2"), Package: proto.String(scope)}
	messages := map[string]*descriptorpb.DescriptorProto{}
	for _, p := range published {
		m := messages[p.message]
		if m == nil {
			m = &descriptorpb.DescriptorProto{Name: proto.String(p.message)}
			messages[p.message], file.MessageType = m, append(file.MessageType, m)
		}
		f := &descriptorpb.FieldDescriptorProto{Name: proto.String(p.field), Number: proto.Int32(p.number),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		switch kind := p.kind.(type) {
		case descriptorpb.FieldDescriptorProto_Type:
			f.Type = kind.Enum()
		case string:
			f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String("."+scope+"."+kind)
			if kind == "Type" {
				f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(),
					proto.String("."+scope+".TrackEvent.Type")
			}
		}
		if p.field == "packet" || p.field == "debug_annotations" {
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		m.Field = append(m.Field, f)
	}
	types := &descriptorpb.EnumDescriptorProto{Name: proto.String("Type")}
	for i, name := range publishedTypes {
		types.Value = append(types.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(name),
			Number: proto.Int32(int32(i))})
	}
	messages["TrackEvent"].EnumType = append(messages["TrackEvent"].EnumType, types)
	all, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all.Messages().ByName("Trace")
}

// fields reads the fields of a decoded message by name.
type fields struct{ protoreflect.Message }

func (m fields) get(name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

func (m fields) number(name protoreflect.Name) uint64  { return m.get(name).Uint() }
func (m fields) text(name protoreflect.Name) string    { return m.get(name).String() }
func (m fields) message(name protoreflect.Name) fields { return fields{m.get(name).Message()} }

func (m fields) all(name protoreflect.Name) (all []fields) {
	list := m.get(name).List()
	for i := range list.Len() {
		all = append(all, fields{list.Get(i).Message()})
	}
	return all
}

// checkKnown fails for a field, at any depth, that the published descriptors do not have.
func checkKnown(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		t.Fatalf("%s has fields that are not published, or of another type: %x", m.Descriptor().Name(), unknown)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsList():
			for i := range v.List().Len() {
				checkKnown(t, v.List().Get(i).Message())
			}
		case f.Message() != nil:
			checkKnown(t, v.Message())
		}
		return true
	})
}

// decodeTrace decodes a trace by the published descriptors and returns its slices, as
// "track/child: name from-to" in microseconds, with the numbers of a slice in parentheses.
func decodeTrace(t *testing.T, trace []byte) (all []string) {
	t.Helper()
	root := dynamicpb.NewMessage(traceDescriptor(t))
	if err := proto.Unmarshal(trace, root); err != nil {
		t.Fatal(err)
	}
	checkKnown(t, root)
	type slice struct {
		name string
		from uint64
	}
	tracks, open := map[uint64]string{}, map[uint64][]slice{}
	for _, packet := range (fields{root}).all("packet") {
		if packet.number("trusted_packet_sequence_id") == 0 {
			t.Fatal("a packet without a sequence")
		}
		if track := packet.message("track_descriptor"); track.IsValid() {
			name := track.text("name")
			if parent := track.number("parent_uuid"); parent != 0 {
				name = tracks[parent] + "/" + name
			}
			tracks[track.number("uuid")] = name
			continue
		}
		event, at := packet.message("track_event"), packet.number("timestamp")
		track := event.number("track_uuid")
		if tracks[track] == "" {
			t.Fatalf("event on track %d, which has no descriptor", track)
		}
		stack := open[track]
		switch kind := publishedTypes[event.get("type").Enum()]; kind {
		case "TYPE_SLICE_BEGIN":
			name := event.text("name")
			for _, note := range event.all("debug_annotations") {
				name += fmt.Sprintf(" (%s %d)", note.text("name"), note.number("uint_value"))
			}
			open[track] = append(stack, slice{name, at})
		case "TYPE_SLICE_END":
			top := stack[len(stack)-1]
			open[track] = stack[:len(stack)-1]
			all = append(all, fmt.Sprintf("%s: %s %d-%d", tracks[track], top.name, top.from/1000, at/1000))
		default:
			t.Fatalf("event of type %s", kind)
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
	stage := func(at int, lobby uint32, s metrics.Stage) mark {
		return mark{at: us(at), lobby: lobby, arg: uint32(s), kind: kindStage}
	}
	e := evidence{tick: Tick{Lobby: &Lobby{id: 2}, Last: 8}, about: Facts{Conns: []Conn{{Slot: 4, Name: "ada"}}}}
	var marks []mark
	for i := range 2 {
		at := 1000 * i
		marks = append(marks,
			stage(at+5, Port, metrics.StageReceive),
			mark{at: us(at + 6), lobby: Port, arg: 0, kind: kindReceive}, mark{at: us(at + 9), lobby: Port, arg: 64, kind: kindCall},
			stage(at+10, Port, metrics.StageIdle),
			stage(at+20, 2, metrics.StageReceive), stage(at+30, 2, metrics.StageSnapshot),
			mark{at: us(at + 40), lobby: 2, arg: 4, kind: kindConn}, mark{at: us(at + 50), lobby: 2, arg: 6, kind: kindConn},
			stage(at+60, 2, metrics.StageIdle),
			stage(at+70, 3, metrics.StageCapture), stage(at+80, 3, metrics.StageIdle),
			mark{at: us(at + 90), lobby: 2, arg: uint32(7 + i), kind: kindTick}, mark{at: us(at + 91), lobby: 3, arg: uint32(70 + i), kind: kindTick})
	}
	got := decodeTrace(t, e.timeline(marks, disturbances{
		pauses:  []span{{us(1000), us(1010)}, {us(1), us(2)}}, // the second is before all marks
		hiccups: []span{{us(900), us(1020)}},
	}))
	want := []string{
		"lobby 2: tick 7 20-60", "lobby 2: tick 8 1020-1060",
		"lobby 2/receive: receive 20-30", "lobby 2/snapshot: snapshot 30-60",
		"lobby 2/receive: receive 1020-1030",
		"lobby 2/snapshot: ada (slot 4) 1040-1050", "lobby 2/snapshot: slot 6 (slot 6) 1050-1060",
		"lobby 2/snapshot: snapshot 1030-1060",
		"lobby 3: tick 70 70-80", "lobby 3: tick 71 1070-1080",
		"lobby 3/capture: capture 70-80", "lobby 3/capture: capture 1070-1080",
		"port/receive: receive 5-10", "port/receive: receive 1005-1010",
		"system calls: receive (datagrams 64) 6-9", "system calls: receive (datagrams 64) 1006-1009",
		"garbage collections: stop the world 1000-1010",
		"machine hiccups: an idle thread woke late 900-1020",
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			t.Errorf("%d: got %q, want %q", i, append(got, make([]string, 99)...)[i], append(want, make([]string, 99)...)[i])
		}
	}
}

package capture

import "time"

// The fields of Perfetto's trace format that are written here, by message; see
// https://perfetto.dev/docs/reference/trace-packet-proto.
const (
	tracePacket = 1 // of Trace

	packetTimestamp  = 8 // of TracePacket, ns
	packetSequence   = 10
	packetTrackEvent = 11
	packetTrack      = 60

	eventAnnotation = 4 // of TrackEvent
	eventType       = 9
	eventTrack      = 11
	eventName       = 23

	annotationUint = 3 // of DebugAnnotation
	annotationName = 10

	trackUUID   = 1 // of TrackDescriptor
	trackName   = 2
	trackParent = 5
)

// The values of TrackEvent.type.
const (
	sliceBegin = 1
	sliceEnd   = 2
)

// sequence is the one writer of a trace, which Perfetto wants a number of.
const sequence = 1

// perfetto is a trace in Perfetto's format that is being written: ui.perfetto.dev opens it. The zero
// value is empty.
type perfetto struct {
	trace  []byte
	tracks uint64
	packet []byte // scratch
	event  []byte // scratch
	note   []byte // scratch
}

// note is a number that a slice shows.
type note struct {
	name  string
	value uint64
}

// track adds a track below another one, 0 for none, and returns its id.
func (p *perfetto) track(parent uint64, name string) (id uint64) {
	p.tracks++
	p.event = appendVarint(p.event[:0], trackUUID, p.tracks)
	p.event = appendString(p.event, trackName, name)
	if parent != 0 {
		p.event = appendVarint(p.event, trackParent, parent)
	}
	p.packet = appendVarint(p.packet[:0], packetSequence, sequence)
	p.trace = appendMessage(p.trace, tracePacket, appendMessage(p.packet, packetTrack, p.event))
	return p.tracks
}

// slice adds a span to a track. Spans of a track may lie within one another, the outer one added
// first by begin, and must not overlap otherwise.
func (p *perfetto) slice(track uint64, name string, s span, notes ...note) {
	p.begin(track, name, s, notes...)
	p.end(track, s)
}

// begin adds the begin of a span.
func (p *perfetto) begin(track uint64, name string, s span, notes ...note) {
	p.event = appendVarint(p.event[:0], eventType, sliceBegin)
	p.event = appendVarint(p.event, eventTrack, track)
	p.event = appendString(p.event, eventName, name)
	for _, n := range notes {
		p.note = appendString(appendVarint(p.note[:0], annotationUint, n.value), annotationName, n.name)
		p.event = appendMessage(p.event, eventAnnotation, p.note)
	}
	p.at(s.from)
}

// end adds the end of a span.
func (p *perfetto) end(track uint64, s span) {
	p.event = appendVarint(p.event[:0], eventType, sliceEnd)
	p.event = appendVarint(p.event, eventTrack, track)
	p.at(s.to)
}

// at adds the event in hand as a packet of an instant.
func (p *perfetto) at(t time.Duration) {
	p.packet = appendVarint(p.packet[:0], packetTimestamp, uint64(max(t, 0)))
	p.packet = appendVarint(p.packet, packetSequence, sequence)
	p.trace = appendMessage(p.trace, tracePacket, appendMessage(p.packet, packetTrackEvent, p.event))
}

package agent

import "errors"

// Kind is the sort of a Message.
type Kind string

// The kinds, in the order of a step.
const (
	Hello   Kind = "hello"   // agent: here I am
	Refuse  Kind = "refuse"  // coordinator: not of this build
	Ping    Kind = "ping"    // coordinator: T0 is now
	Pong    Kind = "pong"    // agent: T0 as asked, T1 arrival, T2 leaving
	Prepare Kind = "prepare" // coordinator: connect the players of Job
	Ready   Kind = "ready"   // agent: all have joined
	Fault   Kind = "fault"   // agent: cannot go on, because of Why
	Start   Kind = "start"   // coordinator: the warm-up begins At
	Result  Kind = "report"  // agent: Report of the measured time
	Stop    Kind = "stop"    // coordinator: the step is over, disconnect
	Abort   Kind = "abort"   // coordinator: the same early, because of Why
)

// Message is what coordinator and agents tell each other. Instants are nanoseconds since 1970.
type Message struct {
	Kind   Kind    `json:"kind"`
	Run    string  `json:"run,omitempty"`   // of the coordinator's process
	Step   int     `json:"step,omitempty"`  // from 1
	Agent  string  `json:"agent"`           // that sends, or that is meant
	Build  string  `json:"build,omitempty"` // fingerprint, of Hello
	T0     int64   `json:"t0,omitempty"`
	T1     int64   `json:"t1,omitempty"`
	T2     int64   `json:"t2,omitempty"`
	At     int64   `json:"at,omitempty"` // by the agent's clock
	Why    string  `json:"why,omitempty"`
	Job    *Job    `json:"job,omitempty"`
	Report *Report `json:"report,omitempty"`
}

// Limits of messages.
const (
	MaxAgents = 256
	MaxName   = 64      // bytes of an agent's name
	MaxSize   = 1 << 20 // bytes of a sealed message; NATS carries no more by default
	maxWhy    = 500
	maxBuild  = 200
)

// Reasons for which messages are refused, as they are counted.
var (
	ErrSize     = errors.New("larger than 1 MiB")
	ErrSeal     = errors.New("sealed with another key, or for another subject")
	ErrForm     = errors.New("not a message of this protocol")
	ErrUnasked  = errors.New("not expected now")
	ErrStranger = errors.New("of an agent or coordinator that is not known")
	ErrBuild    = errors.New("of another build")
	ErrFull     = errors.New("more agents than 256")
	ErrClock    = errors.New("instants that cannot be")
	ErrReport   = errors.New("figures that cannot be")
	ErrJob      = errors.New("a job that cannot be")
)

// refusals are the reasons in the order of a report.
var refusals = []error{ErrSize, ErrSeal, ErrForm, ErrUnasked, ErrStranger, ErrBuild, ErrFull, ErrClock,
	ErrReport, ErrJob}

// Refusals counts refused messages by reason.
type Refusals map[string]uint64

// add counts an error by the first of the known reasons in it.
func (r Refusals) add(err error) {
	for _, why := range refusals {
		if errors.Is(err, why) {
			r[why.Error()]++
			return
		}
	}
	r[ErrForm.Error()]++
}

// ValidName reports whether an agent may have the name: it is part of a subject.
func ValidName(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return name != "" && len(name) <= MaxName
}

// check returns ErrForm for a message out of its bounds.
func (m *Message) check() error {
	if !ValidName(m.Agent) || len(m.Run) > MaxName || len(m.Why) > maxWhy || len(m.Build) > maxBuild ||
		m.Step < 0 {
		return ErrForm
	}
	return nil
}

// cut shortens text for a message.
func cut(text string) string { return text[:min(len(text), maxWhy)] }

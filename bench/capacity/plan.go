package capacity

import "time"

// Version is that of the plan.json this package writes.
const Version = 1

// Machine is where a plan was measured.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"` // processors the planner could use
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
	Go     string `json:"go"`
}

// Setting is one line of the configuration a plan ran with, repeated in its report.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Plan is a whole answer: what was asked, on which machine, every step and what follows from them. A plan that was
// stopped early is a plan too, with Partial set.
type Plan struct {
	Version  int           `json:"version"`
	Machine  Machine       `json:"machine"`
	Commit   string        `json:"commit"`
	Seed     uint64        `json:"seed"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took_ns"`
	Command  string        `json:"command"`  // the line that repeats it
	Movement string        `json:"movement"` // where the players' movement came from
	Config   []Setting     `json:"config"`
	Level    Level         `json:"level"`
	Steps    []Step        `json:"steps"` // in the order they were measured, repeats and void ones included
	Knee     Knee          `json:"knee"`
	Fit      Cost          `json:"fit"`
	Codecs   *Codecs       `json:"codecs,omitempty"`   // nil if they were not compared
	Repeats  *Repeats      `json:"repeats,omitempty"`  // of the size at the knee; nil where it was measured once
	Verified *Verdict      `json:"verified,omitempty"` // what the model predicted of a lobby that was played behind the search; nil if none was
	Partial  bool          `json:"partial"`
}

// Clean returns p as it is written: version and defaults filled in, lists never null, and every number finite (a step
// that held one which was not is void). The knee and the fit are worked out from the steps when p has none.
func (p Plan) Clean() Plan {
	p.Version, p.Level = Version, p.Level.WithDefaults()
	steps := make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = s.Finite()
		steps[i].Failed = append([]string{}, s.Failed...)
		if steps[i].StageCPUMicros == nil {
			steps[i].StageCPUMicros = []Stage{}
		}
	}
	p.Steps = steps
	p.Config = append([]Setting{}, p.Config...)
	if p.Knee.Bound == "" {
		p.Knee = p.Level.Knee(p.Steps)
	}
	p.Knee.Binding = append([]string{}, p.Knee.Binding...)
	if p.Fit.Total.Parts == 0 {
		p.Fit = Fit(steps)
	}
	if p.Fit.Stages == nil {
		p.Fit.Stages = []Curve{}
	}
	return p
}

// Voids counts the void steps.
func (p Plan) Voids() int {
	n := 0
	for _, s := range p.Steps {
		if s.Void {
			n++
		}
	}
	return n
}

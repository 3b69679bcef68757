package autoscale

import (
	"encoding/json"
	"fmt"
	"io"
)

// Capacity is what a plan says of one host.
type Capacity struct {
	Players int    // lower end of the knee's interval
	CPU     string // of the machine where that was measured
	Cores   int
}

// planVersion is the version of the plan.json that ReadPlan knows.
const planVersion = 4

// maxPlan is the longest plan that is read, in bytes.
const maxPlan = 16 << 20

// ReadPlan reads what a host carries from a plan.json, as tickrate plan writes it. build is the version
// of the servers of the fleet: a plan of another one is refused; "" takes any.
func ReadPlan(from io.Reader, build string) (c Capacity, err error) {
	var plan struct {
		Type    string
		Version int
		Commit  string
		Machine struct {
			CPU   string
			Cores int
		}
		Knee struct{ Low int }
	}
	if err = json.NewDecoder(io.LimitReader(from, maxPlan)).Decode(&plan); err != nil {
		return c, fmt.Errorf("not a plan.json: %w", err)
	}
	switch {
	case plan.Type != "plan" && plan.Version >= planVersion:
		return c, fmt.Errorf("not a plan.json: it has the type %.80q", plan.Type)
	case plan.Version != planVersion:
		return c, fmt.Errorf("a plan of version %d: expected %d", plan.Version, planVersion)
	case build != "" && plan.Commit != build:
		return c, fmt.Errorf("a plan of build %.80q: expected %.80q; make one with this build, or take any with "+
			"--any-build", plan.Commit, build)
	case plan.Knee.Low < 1:
		return c, fmt.Errorf("a plan in which no players were carried: expected a knee of 1 or more")
	}
	return Capacity{plan.Knee.Low, plan.Machine.CPU, plan.Machine.Cores}, nil
}

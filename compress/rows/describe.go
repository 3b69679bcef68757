package rows

import (
	"fmt"
	"io"
	"strings"
)

var sourceNames = [srcOps]string{"trend", "bend", "held", "moved", "now", "same as", "near", "apart", "course", "course", "along", "across",
	"was along", "was across", "swing", "swung", "bow", "age", "one"}

var featureNames = [featOps]string{"", "still", "trend", "trend size", "bend", "bend sign", "step", "step size", "wrong", "wrong size", "moved",
	"now", "held", "size", "age", "held age", "mate", "lead", "mate size", "above", "entry"}

// Describe writes how the model sees its fields, a line a field in the order in which they are told: from what each is
// predicted, and in the light of what its error is coded.
func (m *Model) Describe(w io.Writer) error {
	for u, g := range m.groups {
		for _, f := range m.order[g.first:][:g.count] {
			if _, err := fmt.Fprintf(w, "%3d  %-24s = %s   | %s\n", u, m.schema.Fields[f].Name, m.formula(f), m.lights(f)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Model) name(f uint8) string {
	return m.schema.Fields[min(int(f), len(m.schema.Fields)-1)].Name
}

func (m *Model) formula(f int) string {
	parts := []string{"held"}
	p := &m.predictors[f]
	for _, t := range p.terms {
		x := sourceNames[t.op]
		switch t.op {
		case srcAge, srcOne:
		case srcTrend, srcBend:
			x += fmt.Sprintf("(%s %d..%d)", m.name(t.a), lags[t.b], lags[t.c])
		case srcHeld, srcMoved, srcFresh, srcSame, srcNear:
			x += "(" + m.name(t.a) + ")"
		case srcAlong, srcAcross, srcWasAlong, srcWasAcross:
			x += "(" + m.name(t.a) + ", " + m.name(t.b) + ", " + m.name(t.c) + ")"
		default:
			x += "(" + m.name(t.a) + ", " + m.name(t.b) + ")"
		}
		parts = append(parts, weighed(t.weight)+x)
	}
	if p.pull != 0 {
		parts = append(parts, weighed(p.pull)+"neighbour")
	}
	return strings.Join(parts, " + ")
}

func weighed(w int32) string {
	if w == 1<<weightBits {
		return ""
	}
	return fmt.Sprintf("%.3f ", float64(w)/(1<<weightBits))
}

func (m *Model) lights(f int) string {
	var parts []string
	for _, x := range m.mixers[f].asks {
		name := featureNames[x.op]
		switch x.op {
		case featStep, featStepSize, featAbove:
		case featEntry:
			name += fmt.Sprintf("(%d)", x.a)
		default:
			name += "(" + m.name(x.a) + ")"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

package capacity

import (
	"slices"
	"testing"
)

// What is found out whatever codes it is a part of the law of what codes: a name that the law no longer has would leave it out unseen.
func TestChoosesAreTerms(t *testing.T) {
	for _, name := range chooses {
		if !slices.ContainsFunc(featuresOf(CodingStage), func(x feature) bool { return x.name == name }) {
			t.Errorf("%q is no term of %s", name, CodingStage)
		}
	}
}

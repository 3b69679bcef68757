package capacity

import _ "embed"

//go:embed testdata/measured.json
var recorded []byte

// Recorded is a file of measurements that this build carries: of one machine, which it names.
func Recorded() []byte { return recorded }

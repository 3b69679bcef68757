//go:build !amd64 || noasm

package kernel

import "testing"

// levels lists the implementations this build has.
func levels(testing.TB) map[string]isa { return map[string]isa{"generic": generic} }

//go:build !noasm

package kernel

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// levels lists the implementations this machine can run, the truth first.
func levels(tb testing.TB) map[string]isa {
	all := map[string]isa{"generic": generic}
	if cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		all["avx2"] = avx2
		if cpu.X86.HasAVX512F {
			all["avx512"] = avx512
		}
	}
	if len(all) < 3 {
		tb.Logf("only %d of 3 implementations run on this machine", len(all))
	}
	return all
}

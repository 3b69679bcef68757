package capacity

import (
	"fmt"
	"os"
	"testing"
)

func TestZZ(t *testing.T) {
	path := os.Getenv("ZZ")
	if path == "" {
		t.Skip()
	}
	raw, _ := os.ReadFile(path)
	m, err := ParseMeasurements(path, raw)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := FitModel(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range append(mod.Stages, mod.Snapshot, mod.Up, mod.Shots, mod.Sight, mod.Memory, mod.Outgoing) {
		fmt.Printf("%-20s worst %5.1f%% %s\n", l.Name, 100*l.Worst, l)
	}
	all, err := mod.JudgeAll(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		fmt.Printf("%-55s %v cpu %8.1f %+.1f%%  bytes %8.0f %+.1f%%\n", v.Scenario, v.HeldOut, v.CPU, 100*v.CPUError(), v.Bytes, 100*v.BytesError())
	}
	fmt.Println(Worst(all, true))
	fmt.Println(Worst(all, false))
}

package measure

import (
	"os"
	"runtime"
	"strings"
)

// Machine is where something was measured.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"` // processors that the process can use
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
	Go     string `json:"go"`
}

// Here describes the machine of this process, as far as the system tells.
func Here() Machine {
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Go: runtime.Version()}
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if raw, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(raw))
	}
	return m
}

// Setting is one line of the configuration of a run, repeated in its report.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

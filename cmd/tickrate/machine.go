package main

import (
	"os"
	"runtime"
	"strings"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server"
)

// machine describes where we run.
func machine() capacity.Machine {
	m := capacity.Machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
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

// scaled converts a server's spread by a factor.
func scaled(s server.Spread, by float64) capacity.Quantiles {
	return capacity.Quantiles{P50: s.P50 * by, P99: s.P99 * by, P999: s.P999 * by, Max: s.Max * by, Mean: s.Mean * by}
}

// quantiles sums up a histogram of nanoseconds, in milliseconds.
func quantiles(h *meter.Histogram) capacity.Quantiles {
	const ms = 1e-6
	return capacity.Quantiles{
		P50: float64(h.Quantile(0.5)) * ms, P99: float64(h.Quantile(0.99)) * ms, P999: float64(h.Quantile(0.999)) * ms,
		Max: float64(h.Max()) * ms, Mean: h.Mean() * ms,
	}
}

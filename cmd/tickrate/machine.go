package main

import (
	"os"
	"runtime"
	"strings"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/metrics"
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
func scaled(s metrics.Spread, by float64) capacity.Quantiles {
	return capacity.Quantiles{P50: s.P50 * by, P99: s.P99 * by, P999: s.P999 * by, Max: s.Max * by, Mean: s.Mean * by}
}

// quantiles sums up a histogram of nanoseconds, in milliseconds.
func quantiles(h *meter.Histogram) capacity.Quantiles {
	return inUnit(h, 1e-6)
}

// micros sums up a histogram of nanoseconds, in microseconds.
func micros(h *meter.Histogram) capacity.Quantiles { return inUnit(h, 1e-3) }

func inUnit(h *meter.Histogram, unit float64) capacity.Quantiles {
	return capacity.Quantiles{
		P50: float64(h.Quantile(0.5)) * unit, P99: float64(h.Quantile(0.99)) * unit, P999: float64(h.Quantile(0.999)) * unit,
		Max: float64(h.Max()) * unit, Mean: h.Mean() * unit,
	}
}

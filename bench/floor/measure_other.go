//go:build !linux

package floor

import "context"

// Measure is for Linux.
func Measure(context.Context, Traffic, Config) ([]Cost, error) { return nil, ErrSystem }

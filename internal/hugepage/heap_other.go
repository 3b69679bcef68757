//go:build !linux

package hugepage

import "context"

// CollapseHeap does nothing here: 0.
func CollapseHeap(context.Context, func()) int { return 0 }

// Prefault does nothing here: 0.
func Prefault(context.Context, bool) int { return 0 }

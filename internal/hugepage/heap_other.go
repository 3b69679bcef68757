//go:build !linux

package hugepage

import "context"

// CollapseHeap does nothing here: 0.
func CollapseHeap(context.Context, func()) int { return 0 }

// Prefault does nothing here: 0.
func Prefault(context.Context) int { return 0 }

// PrefaultHuge does nothing here.
func PrefaultHuge(context.Context) int { return 0 }

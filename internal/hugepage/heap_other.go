//go:build !linux

package hugepage

import "context"

// Heap does nothing here: 0.
func Heap(context.Context, func()) int { return 0 }

// Touch does nothing here: 0.
func Touch(context.Context, bool) int { return 0 }

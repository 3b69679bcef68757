// Package traceregion marks regions of an execution trace without allocating. Names go in; regions
// of the calling goroutine come out, in a trace or flight recording that runs. While none runs a
// call does nothing; trace.IsEnabled, asked first, is cheaper.
package traceregion

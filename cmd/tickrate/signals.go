// Signals that end a command: the first one ends its context, the second one the process.

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// oneSignal is how long further signals count as the first: programs such as timeout, and a terminal
// together with a script's trap, send one twice.
const oneSignal = 500 * time.Millisecond

// endSignals are the signals that end a command. Under nohup, SIGHUP stays ignored.
func endSignals() []os.Signal {
	end := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		end = append(end, syscall.SIGHUP)
	}
	return end
}

// untilSignal returns a context that ends with ctx or with a signal. A later signal ends the process,
// whatever it does. The caller must call stop.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endSignals()...)
	go func() {
		select {
		case <-signals:
			cancel()
			yieldSignals(signals)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}

// yieldSignals leaves signals that come later to the system, which ends the process.
func yieldSignals(signals chan os.Signal) {
	time.AfterFunc(oneSignal, func() { signal.Stop(signals) })
}

// orEnd returns what work returns, or the context's error once ctx ends: work that knows no context
// is left behind, for the process to end with.
func orEnd[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

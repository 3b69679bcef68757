package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tickrate/tickrate/server/host"
)

// drainSignals replaces the signals that end ctx. The first SIGTERM closes drain; a second one, or an
// interrupt, ends the context; the next ends the process. The caller must call stop.
func drainSignals(ctx context.Context) (_ context.Context, drain <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	signals, begun := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer cancel()
		defer yieldSignals(signals)
		select {
		case s := <-signals:
			if s != syscall.SIGTERM {
				return
			}
		case <-ctx.Done():
			return
		}
		close(begun)
		select {
		case <-signals:
		case <-ctx.Done():
		}
	}()
	return ctx, begun, func() {
		signal.Stop(signals)
		cancel()
	}
}

// drainOn drains a host once drain is closed. A nil channel never is.
func drainOn(ctx context.Context, drain <-chan struct{}, h runningHost) {
	lobbies, ok := h.(*host.Host)
	if !ok || drain == nil {
		return
	}
	go func() {
		select {
		case <-drain:
			lobbies.Drain()
		case <-ctx.Done():
		}
	}()
}

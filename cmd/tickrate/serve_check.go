// The checks of the flags of serve.

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/query"
)

// maxDrain bounds --drain-for.
const maxDrain = 24 * time.Hour

// check refuses values that the configuration would take for a default or could not represent.
func (s *serveSettings) check(c *cobra.Command) error {
	m := &s.match
	if err := s.key.check(c); err != nil {
		return err
	}
	if err := s.fleet.check(m, s.network.echo); err != nil {
		return err
	}
	if _, err := s.capture.check(); err != nil {
		return err
	}
	if err := errors.Join(notURL("--listen", s.network.listen), notURL("--http", s.http.listen),
		notURL("--query", s.query.listen)); err != nil {
		return err
	}
	if err := checkLifetimes("--token-lifetime", s.http.tokenLifetime, s.http.sessionTimeout); err != nil {
		return err
	}
	switch {
	case m.players < 1 && !s.network.echo: // checkEcho has another limit
		return usage.Errorf("--players %d: expected 1 to %d", m.players, server.MaxPlayers)
	case m.rate < int(tick.MinRate) || m.rate > int(tick.MaxRate):
		return usage.Errorf("--rate %d: expected %d to %d", m.rate, tick.MinRate, tick.MaxRate)
	case s.tick.maxSteps == 0 || s.tick.maxBatch == 0: // host.ClockConfig takes 0 for its defaults
		return usage.Errorf("--max-steps %d, --max-batch %d: expected 1 or more", s.tick.maxSteps, s.tick.maxBatch)
	case s.tick.workers < 1:
		return usage.Errorf("--tick-workers %d: expected 1 to %d", s.tick.workers, host.MaxTickWorkers)
	case m.lobbyWorkers < 0 || m.lobbyWorkers > host.MaxLobbyWorkers:
		return usage.Errorf("--lobby-workers %d: expected 1 to %d, or 0 for one a processor", m.lobbyWorkers,
			host.MaxLobbyWorkers)
	case m.lobbyWorkers != 1 && m.lobbies.Most == 0:
		return usage.Error(errors.New("--lobby-workers: a lobby alone has one; see --lobbies"))
	case m.lobbyWorkers != 1 && s.tick.workers > 1:
		return usage.Error(errors.New("--lobby-workers and --tick-workers exclude each other: lobbies on " +
			"several threads, or one large lobby on several"))
	case !protocol.ValidText([]byte(s.query.name), query.MaxText):
		return usage.Errorf("--name %q: expected at most %d bytes of printable text",
			s.query.name, query.MaxText)
	case m.idlePassive < 0 || m.idlePassive > maxIdle:
		return usage.Errorf("--idle-passive %v: expected at most %v, or 0 for never", m.idlePassive, maxIdle)
	case m.idleWarn < 0 || m.idleWarn > maxIdle || m.idleKick < 0 || m.idleKick > maxIdle:
		return usage.Errorf("--idle-warn %v, --idle-kick %v: expected at most %v, or 0 for never",
			m.idleWarn, m.idleKick, maxIdle)
	case m.drainFor < 0 || m.drainFor > maxDrain:
		return usage.Errorf("--drain-for %v: expected at most %v, or 0 to end at once", m.drainFor, maxDrain)
	case s.network.snapshotRate != 0 && s.network.sendInterval != 0:
		return usage.Error(errors.New("--snapshot-rate and --send-interval exclude each other"))
	}
	return nil
}

// checkEcho refuses settings that an echo host has no use for.
func (s *serveSettings) checkEcho() error {
	switch {
	case s.console.stdin || len(s.console.exec) > 0:
		return errors.New("--console, --exec: an echo has no console; leave out --echo")
	case s.match.lobbies.Most != s.match.lobbies.Ahead:
		return errors.New("--lobbies: an echo makes none on demand; expected N")
	case s.match.drainFor != 0:
		return errors.New("--drain-for: an echo has no matches to wait for; leave out --echo")
	case s.capture.dir != "":
		return errors.New("--capture: an echo plays no ticks; leave out one of --capture and --echo")
	case s.record != "":
		return errors.New("--record: an echo plays nothing; leave out one of --record and --echo")
	case s.query.listen != "":
		return errors.New("--query: an echo has no query port; leave out one of --query and --echo")
	}
	most := netcode.MaxClients / max(1, s.match.lobbies.Ahead)
	if s.match.players < 1 || s.match.players > most {
		return fmt.Errorf("--players %d: expected 1 to %d", s.match.players, most)
	}
	return nil
}

// The command swarm agent: a machine that plays a part of the players of a plan on another machine.
// The work is in bench/agent.

package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/agent"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/protocol"
)

// newSwarmAgent returns the command that plays for a plan on another machine.
func newSwarmAgent() *cobra.Command {
	var nats, key, name string
	var log logFormat
	c := &cobra.Command{
		Use:   "agent",
		Short: "Play a part of the players of a plan that runs on another machine",
		Long: `agent waits on a NATS server for tickrate plan --agents, and plays the share of
the players that the plan gives it, step by step, until interrupted. Agents and
plan must be of the same build and have the same key.`,
		Example: `  openssl rand -hex 32 > fleet.key
  tickrate plan --agents 2 --nats-listen 10.0.0.5:4222 --host 10.0.0.5 --fleet-key fleet.key
  tickrate swarm agent --nats nats://10.0.0.5:4222 --fleet-key fleet.key`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name == "" {
				name = agentName()
			}
			return runAgent(c, nats, key, name, log.logger(os.Stderr))
		},
	}
	fl := c.Flags()
	fl.StringVar(&nats, "nats", "nats://127.0.0.1:4222", "`URL` of the NATS server")
	fl.StringVar(&key, "fleet-key", "", "`file` with the key of the messages, 64 hexadecimal digits (required)")
	log.register(fl)
	fl.StringVar(&name, "name", "", "`name` of this agent, of letters, digits, - and _; default the host's and "+
		"the process number")
	return c
}

// runAgent plays until the context of the command ends.
func runAgent(c *cobra.Command, nats, key, name string, log *slog.Logger) error {
	if !agent.ValidName(name) {
		return usage.Errorf("--name %q: expected 1 to %d letters, digits, - and _", name, agent.MaxName)
	}
	secret, err := agentKey(key, c.ErrOrStderr())
	if err != nil {
		return err
	}
	b, err := bus.Open(bus.Config{Name: "tickrate-agent-" + name, URL: nats,
		Token: (*announce.Key)(&secret).BusToken()})
	if err != nil {
		return err
	}
	defer b.Close()
	setMinProcs(swarmProcs)
	log.Info("agent: waits for a plan", "name", name, "nats", b.Conn.ConnectedUrlRedacted())
	return agent.Serve(c.Context(), agent.AgentConfig{Bus: b, Key: secret, Name: name, Build: fingerprint(), Log: log})
}

// agentKey reads the key of the messages.
func agentKey(path string, say io.Writer) (agent.Key, error) {
	if path == "" {
		return agent.Key{}, usage.Errorf("--fleet-key: expected a file; openssl rand -hex 32 makes a key")
	}
	key, err := readFleetKey(path, say)
	return agent.Key(key), err
}

// agentName is the host's name and the process number, without what a name must not have.
func agentName() string {
	host, _ := os.Hostname() // without one, the number has to do
	host = strings.Map(func(c rune) rune {
		if agent.ValidName(string(c)) {
			return c
		}
		return '-'
	}, host)
	return fmt.Sprintf("%s-%d", host[:min(len(host), 40)], os.Getpid())
}

// fingerprint tells builds apart that may not play together: by version, protocol and revision.
func fingerprint() string {
	text := fmt.Sprintf("%s %x", version, uint64(protocol.ProtocolID))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			text += " " + s.Value
		}
	}
	return text
}

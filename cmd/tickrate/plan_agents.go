// The flags of plan that put its players on other machines. The work is in bench/agent.

package main

import (
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/agent"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
)

// planAgents are the flags of plan for agents.
type planAgents struct {
	agents       int           // that a step waits for; 0: the players are in this process
	wait         time.Duration // most time that a step waits for agents
	nats, listen string        // URL of an outside server; address of an embedded one
	fleetKey     string        // file
	host         string        // IP address of the servers under test
}

// register adds the flags to c.
func (f *planAgents) register(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.agents, "agents", 0, "`number` of tickrate swarm agent to wait for, which play on other "+
		"machines; 0: the swarm plays here")
	fl.DurationVar(&f.wait, "agents-wait", time.Minute, "`time` that a step waits for the agents, 1s to 1h; "+
		"with --agents")
	fl.StringVar(&f.nats, "nats", "", "`URL` of a NATS server for the agents; default one inside this process")
	fl.StringVar(&f.listen, "nats-listen", "127.0.0.1:4222", "`host:port` of the server inside this process, "+
		"with --agents")
	fl.StringVar(&f.fleetKey, "fleet-key", "", "`file` with the key of the agents' messages, 64 hexadecimal "+
		"digits, which --agents needs; default none")
	fl.StringVar(&f.host, "host", "127.0.0.1", "IP `address` of this machine where agents reach the servers "+
		"under test, with --agents")
}

// open adds the agents to the configuration of a runner, if there are any, and waits for them. The
// function that it returns lets them go.
func (f *planAgents) open(c *cobra.Command, s *scenarioFlags, out *screen, cfg *runner.Config) (func(), error) {
	if f.agents == 0 {
		return func() {}, nil
	}
	secret, err := f.check(s, c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if err := notURL("--nats-listen", f.listen); err != nil {
		return nil, err
	}
	if cfg.Host, err = netip.ParseAddr(f.host); err != nil || cfg.Host.IsUnspecified() {
		return nil, usage.Errorf("--host %q: expected an IP address of this machine", f.host)
	}
	b, err := bus.Open(bus.Config{Name: "tickrate-plan", URL: f.nats, Listen: f.listen,
		Token: (*announce.Key)(&secret).BusToken()})
	if err != nil {
		return nil, err
	}
	pool, err := agent.NewPool(agent.PoolConfig{Bus: b, Key: secret, Build: fingerprint(), Least: f.agents,
		Wait: f.wait})
	if err != nil {
		b.Close()
		return nil, usage.Error(err)
	}
	end := func() { pool.Close(); b.Close() }
	at := b.URL()
	if at == "" {
		at = bus.Redacted(f.nats)
	}
	fmt.Fprintf(c.ErrOrStderr(), "agents: tickrate swarm agent --nats %s --fleet-key %s\n", at, f.fleetKey)
	err = pool.Await(c.Context(), func(n int) { out.note("%d of %d agents", n, f.agents) })
	if err != nil {
		end()
		return nil, err
	}
	cfg.Remote = &agent.Remote{Pool: pool, Note: func(text string) { fmt.Fprint(c.ErrOrStderr(), text) }}
	return end, nil
}

// check reads the key and refuses flags whose files the agents do not have.
func (f *planAgents) check(s *scenarioFlags, say io.Writer) (agent.Key, error) {
	switch {
	case f.agents < 1 || f.agents > agent.MaxAgents:
		return agent.Key{}, usage.Errorf("--agents %d: expected 1 to %d, or 0 for none", f.agents, agent.MaxAgents)
	case f.wait < time.Second || f.wait > time.Hour:
		return agent.Key{}, usage.Errorf("--agents-wait %v: expected 1s to 1h", f.wait)
	case len(s.s.Play.Traces) > 0 || s.content != "":
		return agent.Key{}, usage.Errorf("--agents: expected no --trace and no --content: agents do not have the files")
	}
	return agentKey(f.fleetKey, say)
}

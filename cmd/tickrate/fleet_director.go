// The command fleet director: finds places for players in the lobbies of a fleet. The work is in
// fleet/director.

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/fleet/director"
	"github.com/tickrate/tickrate/internal/web"
	"github.com/tickrate/tickrate/server/httpapi"
)

// directorFlags are the flags of fleet director.
type directorFlags struct {
	log                  logFormat
	key                  keyFlags
	nats, listen, dir    string // URL of an outside server; address and folder of an embedded one
	fleetKey             string // file
	http, secret         string
	protocol             protocolID
	maxBusy              float64
	maxTick              time.Duration
	lifetime, timeout    time.Duration
	allocator, namespace string // of Agones
	fleet                string // of Agones
	cert, certKey, ca    string // files
}

// newDirector returns the command that runs a director.
func newDirector() *cobra.Command {
	f := directorFlags{protocol: defaultProtocol}
	c := &cobra.Command{
		Use:   "director",
		Short: "Find places for players in the lobbies of a fleet",
		Long: `director listens to hosts that serve --fleet announces over NATS, and answers
POST /v1/match with connect tokens for the fullest lobby that has place on a
host below its limits of load; if there is none, a host makes one. The places
are reserved until the tokens expire. The same request_id has the same answer.
Directors may be several on one NATS server, and any may end at any time.

/stats and /metrics have figures, and messages that were refused, by reason.`,
		Example: `  openssl rand -hex 32 > fleet.key
  tickrate fleet director --nats-listen 127.0.0.1:4222 --fleet-key fleet.key
  tickrate serve --lobbies 1:8 --fleet nats://127.0.0.1:4222 --fleet-key fleet.key
  curl -d '{"request_id": "m-1", "players": 5, "map": "arena-64", "mode": "deathmatch"}' \
    http://127.0.0.1:7920/v1/match`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.key.register(c, "the same at all hosts")
	fl := c.Flags()
	f.log.register(fl)
	fl.StringVar(&f.nats, "nats", "", "`URL` of a NATS server with JetStream; default one inside this process")
	fl.StringVar(&f.listen, "nats-listen", "127.0.0.1:4222", "`host:port` of the server inside this process")
	fl.StringVar(&f.dir, "nats-dir", "", "`folder` of the server inside this process; default a temporary one")
	fl.StringVar(&f.fleetKey, "fleet-key", "", "`file` with the key of the fleet's messages, "+
		"64 hexadecimal digits (required)")
	fl.StringVar(&f.http, "http", "127.0.0.1:7920", "HTTP `host:port` for /v1/match, /stats and /metrics")
	fl.StringVar(&f.secret, "http-token", "", "`secret` for /v1/match, which a port that others can reach needs; "+
		"also "+serverapi.TokenVariable)
	fl.Var(&f.protocol, "protocol-id", protocolUsage)
	fl.Float64Var(&f.maxBusy, "max-busy", 0.75, "`share` of a processor from which a host gets no more players")
	fl.DurationVar(&f.maxTick, "max-tick", 8*time.Millisecond, "`time` of a tick from which a host gets no more players")
	fl.DurationVar(&f.lifetime, "token-lifetime", httpapi.DefaultTokenLifetime,
		"`time` for which tokens and places are good, 1s to 24h")
	fl.DurationVar(&f.timeout, "session-timeout", httpapi.DefaultSessionTimeout,
		"silent `time` that ends a session, 1s to 24h; -1s for never")
	fl.StringVar(&f.allocator, "allocator", "", "`URL` of the allocator of Agones, asked in place of the hosts "+
		"that announce; default none")
	fl.StringVar(&f.namespace, "allocator-namespace", "default", "`namespace` of the game servers")
	fl.StringVar(&f.fleet, "allocator-fleet", "", "`name` of the Fleet; default any")
	fl.StringVar(&f.cert, "allocator-cert", "", "`file` with the client certificate for the allocator; default none")
	fl.StringVar(&f.certKey, "allocator-key", "", "`file` with the key of that certificate; default none")
	fl.StringVar(&f.ca, "allocator-ca", "", "`file` with the certificate that signs the allocator's; "+
		"default the system's")
	return c
}

// config reads keys and checks flags.
func (f *directorFlags) config(c *cobra.Command) (cfg director.Config, err error) {
	if err := errors.Join(f.key.check(c), notURL("--http", f.http), notURL("--nats-listen", f.listen), checkLifetimes("--token-lifetime", f.lifetime, f.timeout)); err != nil {
		return cfg, err
	}
	switch {
	case f.fleetKey == "":
		return cfg, usage.Errorf("--fleet-key: expected a file; openssl rand -hex 32 makes a key")
	case !(f.maxBusy > 0 && f.maxBusy <= 1):
		return cfg, usage.Errorf("--max-busy %v: expected more than 0, at most 1", f.maxBusy)
	case f.maxTick < time.Microsecond || f.maxTick > time.Second:
		return cfg, usage.Errorf("--max-tick %v: expected 1µs to 1s", f.maxTick)
	}
	cfg = director.Config{ProtocolID: uint64(f.protocol), MaxBusy: f.maxBusy, MaxTick: f.maxTick,
		TokenLifetime: f.lifetime, SessionTimeout: f.timeout, Log: f.log.logger(c.ErrOrStderr())}
	if cfg.Key, err = readFleetKey(f.fleetKey, c.ErrOrStderr()); err != nil {
		return cfg, err
	}
	if cfg.Allocator, err = f.agones(); err != nil {
		return cfg, err
	}
	cfg.Netcode, err = f.key.read(makeKey, c.ErrOrStderr())
	return cfg, err
}

// agones returns the allocator, nil without --allocator.
func (f *directorFlags) agones() (*director.Allocator, error) {
	if f.allocator == "" {
		return nil, nil
	}
	if u, err := url.Parse(f.allocator); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usage.Errorf("--allocator %q: expected http://HOST or https://HOST", f.allocator)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.cert != "" || f.certKey != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.certKey)
		if err != nil {
			return nil, usage.Errorf("--allocator-cert, --allocator-key: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, usage.Errorf("--allocator-ca: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usage.Errorf("--allocator-ca %s: expected a certificate in PEM", f.ca)
		}
	}
	return &director.Allocator{URL: f.allocator, Namespace: f.namespace, Fleet: f.fleet,
		Client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: secure}}}, nil
}

// run runs a director until its context ends.
func (f *directorFlags) run(c *cobra.Command) error {
	cfg, err := f.config(c)
	if err != nil {
		return err
	}
	secret, err := serverSecret(f.secret)
	if err != nil {
		return err
	}
	if cfg.Bus, err = bus.Open(bus.Config{Name: "tickrate-director", URL: f.nats, Listen: f.listen,
		Dir: f.dir, Token: cfg.Key.BusToken()}); err != nil {
		return err
	}
	defer cfg.Bus.Close()
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
	defer cancel()
	d, err := director.New(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	port, err := web.Listen(f.http)
	if err != nil {
		return err
	}
	port.Serve(httpapi.Guard(d.Pages(), httpapi.Access{Loopback: port.Loopback(), Secret: secret}, nil))
	if at := cfg.Bus.URL(); at != "" {
		fmt.Fprintf(c.OutOrStdout(), "hosts: serve --fleet %s\n", at)
	}
	fmt.Fprintf(c.OutOrStdout(), "matches: POST http://%s/v1/match\n", port.Addr())
	<-c.Context().Done()
	return port.Close()
}

// The command inspect why: the reason why a client is not sent an entity.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newInspectWhy returns the command that asks a running server why a client does not see an entity.
func newInspectWhy() *cobra.Command {
	var o inspect.WhyOptions
	c := &cobra.Command{
		Use:   "why CLIENT [ENTITY]",
		Short: "Show why a client of a running server is not sent an entity",
		Long: `why asks a running server about an entity in the newest snapshot to a client:
sent, or the reason why not. A player is given by name, net id (8.1 or 2049),
slot (slot:8) or client id (client:77), an object by class and number:
projectile:ID, grenade:ID, barrel:3, cube:0, teleporter:0, zone:0. Without
ENTITY the table has all players and objects.

  curl --data list http://127.0.0.1:7914/v1/console
  tickrate inspect why slot:8
  tickrate inspect why "bot 3" 3.1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage.Errorf("expected CLIENT and perhaps ENTITY, got %d arguments; "+
					"see tickrate inspect why --help", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.Client = args[0]; len(args) == 2 {
				o.Entity = args[1]
			}
			return inspect.Why(c.Context(), c.OutOrStdout(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.HTTP, "http", "127.0.0.1:7914", "`host:port` of the server's HTTP port")
	fl.StringVar(&o.Secret, "http-token", "",
		"`secret` of that port, if it has one; also "+serverapi.TokenVariable)
	fl.BoolVar(&o.JSON, "json", false, "print JSON, as GET /v1/explain gives it")
	return c
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/ecs/schema/gen"
)

func newGen() *cobra.Command {
	var cfg gen.Config
	c := &cobra.Command{
		Use:   "gen",
		Short: "Generate the code that captures, restores and interpolates components",
		Long: `gen reads the structs of a Go package whose fields have net tags, and writes a file with their schemas and the code that
turns them into rows of integers and back. What the tags mean: go doc github.com/tickrate/tickrate/ecs/schema.

In a package that this command itself is built from, use go run ./ecs/schema/gen/structgen, which is gen alone: it still
compiles when a struct has just been changed.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return gen.Run(cfg) },
	}
	fl := c.Flags()
	fl.StringVar(&cfg.Dir, "dir", ".", "`directory` of the package")
	fl.StringSliceVar(&cfg.Types, "type", nil, "`structs` to generate for (default: those with a net tag on a field called _)")
	fl.StringVar(&cfg.Out, "out", gen.DefaultOut, "`file` to write, below --dir")
	return c
}

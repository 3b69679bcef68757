package main

import "github.com/spf13/cobra"

func newModel() *cobra.Command       { return &cobra.Command{Use: "model"} }
func newMap() *cobra.Command         { return &cobra.Command{Use: "map"} }
func newBenchReport() *cobra.Command { return &cobra.Command{Use: "bench-report"} }

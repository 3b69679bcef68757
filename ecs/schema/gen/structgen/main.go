// Command structgen writes the code of schemas. A file of the package that it is written for has
//
//	//go:generate go run github.com/tickrate/tickrate/ecs/schema/gen/structgen
//
// and go generate runs it there. It imports none of the
// packages that it writes code for, so it still compiles when one of their structs has just
// changed.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/tickrate/tickrate/ecs/schema/gen"
)

func main() {
	var c gen.Config
	flag.StringVar(&c.Dir, "dir", ".", "`directory` of the package")
	flag.StringVar(&c.Out, "out", gen.DefaultOut, "`file` to write, below dir")
	list := flag.String("type", "",
		"`structs`, separated by commas; default: those with a net tag on a field called _")
	flag.Parse()
	if *list != "" {
		c.Types = strings.Split(*list, ",")
	}
	if err := gen.Run(c); err != nil {
		fmt.Fprintln(os.Stderr, "structgen:", err)
		os.Exit(1)
	}
}

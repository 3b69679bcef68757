// Command overlay writes the files of a mutated build into a folder and prints the path of the
// overlay for go build.
//
//	go test -overlay "$(go run ./bench/dst/mutation/overlay DIR)" -tags mutation ./bench/dst
package main

import (
	"fmt"
	"os"

	"github.com/tickrate/tickrate/bench/dst/mutation"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: overlay DIR, run in the root of the module")
		os.Exit(2)
	}
	path, err := mutation.WriteOverlay(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

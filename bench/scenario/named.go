package scenario

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed named/*.toml
var named embed.FS

// Names lists the scenarios of this build, in alphabetical order.
func Names() (all []string) {
	files, err := named.ReadDir("named")
	if err != nil {
		panic("scenario: " + err.Error()) // embedded at build time
	}
	for _, f := range files {
		all = append(all, strings.TrimSuffix(f.Name(), ".toml"))
	}
	return all
}

// Named reads a scenario of this build, false if there is none of that name.
func Named(name string) (Scenario, bool) {
	text, err := named.ReadFile("named/" + name + ".toml")
	if err != nil {
		return Scenario{}, false
	}
	s, err := Parse(name+".toml", text)
	if err != nil {
		panic(fmt.Sprintf("scenario: embedded %s: %v", name, err)) // a test reads them all
	}
	return s, true
}

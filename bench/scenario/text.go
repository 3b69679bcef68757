package scenario

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Text is the file of a scenario with all its keys, each beneath a comment that says what it is and
// what it may be; Parse reads it again.
func (s Scenario) Text() ([]byte, error) {
	text, err := toml.Marshal(s)
	if err != nil {
		return nil, err
	}
	about, table := helps(), ""
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		if name, is := strings.CutPrefix(string(line), "["); is {
			table, _, _ = strings.Cut(name, "]")
			table += "."
		} else if key, _, is := strings.Cut(string(line), " = "); is {
			fmt.Fprintf(&out, "# %s\n", about[table+key])
		}
		out.Write(line)
	}
	return out.Bytes(), nil
}

// helps returns, by key, what a key is and what it may be.
func helps() map[string]string {
	all := map[string]string{}
	for table := range reflect.TypeFor[Scenario]().Fields() {
		if table.Type.Kind() != reflect.Struct {
			all[table.Tag.Get("toml")] = table.Tag.Get("help")
			continue
		}
		for field := range table.Type.Fields() {
			all[table.Tag.Get("toml")+"."+field.Tag.Get("toml")] = field.Tag.Get("help")
		}
	}
	before := ": "
	for i, r := range rules {
		if i > 0 && rules[i-1].key != r.key {
			before = ": "
		}
		all[r.key] += before + r.want
		before = "; "
	}
	return all
}

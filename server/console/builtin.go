package console

import (
	"fmt"
	"strconv"
	"strings"
)

// addBuiltins adds the commands of every console.
func (c *Console) addBuiltins() {
	set := func(call *Call) error { return c.Set(call.Args[0], call.Args[1], call.Caller) }
	guest, local := Entry{Flags: Remote, Needs: Guest}, Entry{}
	for _, b := range []struct {
		entry            Entry
		name, usage      string
		minArgs, maxArgs int
		run              func(*Call) error
		help             string
	}{
		{guest, "help", "[NAME]", 0, 1, c.help,
			"describe one entry, or list the commands you may use"},
		{guest, "vars", "[-c] [TEXT]", 0, 2, c.list,
			"list variables you may read whose names contain a text; -c for the changed ones only"},
		{guest, "set", "NAME VALUE", 2, 2, set,
			"give a variable a value"},
		{guest, "reset", "NAME", 1, 1, c.reset,
			"give a variable its default"},
		{local, "exec", "[-s] FILE", 1, 2, c.exec,
			"run the lines of a file; -s if it may be missing"},
		{local, "wait", "[TICKS]", 0, 1, c.wait,
			"let some ticks pass before the next line of a file"},
		{local, "saveconfig", "[FILE]", 0, 1, c.save,
			"write the changed variables that are saved to a file"},
		{local, "loadconfig", "[FILE]", 0, 1, c.load,
			"set variables from a file that saveconfig wrote: all of them, or with an error none"},
	} {
		b.entry.Name, b.entry.Help = b.name, b.help
		c.AddCommand(Command{b.entry, b.usage, b.minArgs, b.maxArgs, b.run})
	}
}

// help is the command help.
func (c *Console) help(call *Call) error {
	if len(call.Args) == 0 {
		for _, e := range c.entries {
			if cmd := e.command; cmd != nil && permit(call.Caller, cmd.Name, cmd.Flags, cmd.Needs) == nil {
				call.Say("%s: %s", cmd.usage(), cmd.Help)
			}
		}
		return nil
	}
	e, ok := c.find(call.Args[0])
	if !ok {
		return fmt.Errorf("help %s: expected a variable or command", quoteWord(call.Args[0]))
	}
	if e.command != nil {
		call.Say("%s: %s", e.command.usage(), e.command.Help)
		return nil
	}
	if err := e.v.readable(call.Caller); err != nil {
		return err
	}
	call.Say("%s: %s", e.v.describe(), e.v.help)
	call.Say("%s;%v", e.v.expected(), e.v.flags)
	return nil
}

// list is the command vars.
func (c *Console) list(call *Call) error {
	args := call.Args
	changed := len(args) > 0 && args[0] == "-c"
	if changed {
		args = args[1:]
	}
	if len(args) > 1 {
		return fmt.Errorf("vars %s: expected -c, or one text", quoteWord(args[0]))
	}
	filter := strings.Join(args, "")
	for v := range c.vars() {
		if strings.Contains(v.name, filter) && (!changed || v.Changed()) && v.readable(call.Caller) == nil {
			call.Say("%s", v.describe())
		}
	}
	return nil
}

// reset is the command reset.
func (c *Console) reset(call *Call) error {
	v := c.Var(call.Args[0])
	if v == nil {
		return fmt.Errorf("reset %s: expected a variable; see vars", quoteWord(call.Args[0]))
	}
	return c.set(v, v.show(v.initial), call.Caller)
}

// maxWait is the longest wait in ticks, about two hours.
const maxWait = 1_000_000

// wait is the command wait.
func (c *Console) wait(call *Call) error {
	n := 1
	if len(call.Args) > 0 {
		var err error
		if n, err = strconv.Atoi(call.Args[0]); err != nil || n < 1 || n > maxWait {
			return fmt.Errorf("wait %s: expected 1 to %d ticks", quoteWord(call.Args[0]), maxWait)
		}
	}
	c.queue.wait = n
	return nil
}

package console

import (
	"fmt"
	"strconv"
	"strings"
)

// addBuiltins adds the commands that every console has.
func (c *Console) addBuiltins() {
	open := Entry{Flags: Remote, Needs: Guest} // what is behind them is not
	of := func(e Entry, name, help string) Entry {
		e.Name, e.Help = name, help
		return e
	}
	for _, cmd := range []Command{
		{of(open, "help", "tell about one entry, or list the commands you may use"), "[NAME]", 0, 1, c.help},
		{of(open, "vars", "list variables you may read whose names contain a text; -c for the changed ones only"), "[-c] [TEXT]", 0, 2, c.list},
		{of(open, "set", "give a variable a value"), "NAME VALUE", 2, 2, func(call *Call) error { return c.Set(call.Args[0], call.Args[1], call.Who) }},
		{of(open, "reset", "give a variable its default"), "NAME", 1, 1, c.reset},
		{of(Entry{}, "exec", "run the lines of a file; -s if it may be missing"), "[-s] FILE", 1, 2, c.exec},
		{of(Entry{}, "wait", "let some ticks pass before the next line of a file"), "[TICKS]", 0, 1, c.wait},
		{of(Entry{}, "saveconfig", "write the changed variables that are saved to a file"), "[FILE]", 0, 1, c.save},
		{of(Entry{}, "loadconfig", "set variables from a file that saveconfig wrote: all of them, or with an error none"), "[FILE]", 0, 1, c.load},
	} {
		c.AddCommand(cmd)
	}
}

func (c *Console) help(call *Call) error {
	if len(call.Args) == 0 {
		for _, e := range c.entries {
			if cmd := e.command; cmd != nil && permit(call.Who, cmd.Name, cmd.Flags, cmd.Needs) == nil {
				call.Say("%s: %s", cmd.use(), cmd.Help)
			}
		}
		return nil
	}
	e, ok := c.find(call.Args[0])
	if !ok {
		return fmt.Errorf("help %s: expected a variable or command", brief(call.Args[0]))
	}
	if e.command != nil {
		call.Say("%s: %s", e.command.use(), e.command.Help)
		return nil
	}
	if err := e.v.readable(call.Who); err != nil {
		return err
	}
	call.Say("%s: %s", e.v.describe(), e.v.help)
	call.Say("%s;%v", e.v.expected(), e.v.flags)
	return nil
}

func (c *Console) list(call *Call) error {
	args := call.Args
	changed := len(args) > 0 && args[0] == "-c"
	if changed {
		args = args[1:]
	}
	if len(args) > 1 {
		return fmt.Errorf("vars %s: expected -c, or one text", brief(args[0]))
	}
	filter := strings.Join(args, "")
	for v := range c.vars() {
		if strings.Contains(v.name, filter) && (!changed || v.Changed()) && v.readable(call.Who) == nil {
			call.Say("%s", v.describe())
		}
	}
	return nil
}

func (c *Console) reset(call *Call) error {
	v := c.Var(call.Args[0])
	if v == nil {
		return fmt.Errorf("reset %s: expected a variable; see vars", brief(call.Args[0]))
	}
	return c.set(v, v.show(v.normal), call.Who)
}

// maxWait is the most ticks that a wait takes: about two hours.
const maxWait = 1_000_000

func (c *Console) wait(call *Call) error {
	n := 1
	if len(call.Args) > 0 {
		var err error
		if n, err = strconv.Atoi(call.Args[0]); err != nil || n < 1 || n > maxWait {
			return fmt.Errorf("wait %s: expected 1 to %d ticks", brief(call.Args[0]), maxWait)
		}
	}
	c.queue.wait = n
	return nil
}

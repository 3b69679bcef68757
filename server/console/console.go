package console

import (
	"fmt"
	"io/fs"
	"iter"
	"sort"
	"strings"
)

// Config is the access of a console to files. A zero field is no access.
type Config struct {
	Files fs.FS // read by exec and loadconfig

	// Write is called by saveconfig. It writes a file whole or not at all.
	Write func(name string, text []byte) error
}

// Console is a set of variables and commands. One goroutine at a time may use it.
type Console struct {
	cfg     Config
	entries []entry // by name
	cheats  *Var
	queue   script
}

// entry is a variable or a command.
type entry struct {
	name    string
	v       *Var
	command *Command
}

// Command is a named action.
type Command struct {
	Entry
	Usage            string // its arguments, as "NAME [SECONDS]"
	MinArgs, MaxArgs int
	Run              func(*Call) error
}

// usage is a command's name and arguments.
func (cmd *Command) usage() string { return strings.TrimSpace(cmd.Name + " " + cmd.Usage) }

// Call is one run of a command.
type Call struct {
	Caller Caller
	Args   []string // without the command's name; as many as the command takes
	out    []string
	lines  int // that the command has said
}

// maxOutput is the most lines that one command shows.
const maxOutput = 1024

// Say shows the caller a line.
func (c *Call) Say(format string, args ...any) {
	switch c.lines++; {
	case c.lines <= maxOutput:
		c.out = append(c.out, fmt.Sprintf(format, args...))
	case c.lines == maxOutput+1:
		c.out = append(c.out, "...")
	}
}

// New returns a console with the commands of every console and the variable cheats.
func New(cfg Config) *Console {
	c := &Console{cfg: cfg}
	c.cheats = NewBool(Entry{
		Name: "cheats", Help: "let variables that are cheats differ from their defaults",
		Flags: ServerInfo | Remote,
	}, false)
	c.Add(c.cheats)
	c.addBuiltins()
	return c
}

// Add adds variables. It panics if two entries have one name.
func (c *Console) Add(vars ...*Var) {
	for _, v := range vars {
		c.insert(entry{name: v.name, v: v})
	}
}

// AddCommand adds a command. It panics if the command cannot be called or its name is taken.
func (c *Console) AddCommand(cmd Command) {
	if !ValidName(cmd.Name) || cmd.Run == nil || cmd.MinArgs > cmd.MaxArgs || cmd.MaxArgs >= MaxWords {
		panic(fmt.Sprintf("console: command %q cannot be called", cmd.Name))
	}
	c.insert(entry{name: cmd.Name, command: &cmd})
}

func (c *Console) insert(e entry) {
	i := c.search(e.name)
	if i < len(c.entries) && c.entries[i].name == e.name {
		panic("console: two entries " + e.name)
	}
	c.entries = append(c.entries, entry{})
	copy(c.entries[i+1:], c.entries[i:])
	c.entries[i] = e
}

func (c *Console) search(name string) int {
	return sort.Search(len(c.entries), func(i int) bool { return c.entries[i].name >= name })
}

func (c *Console) find(name string) (e entry, ok bool) {
	i := c.search(name)
	if i == len(c.entries) || c.entries[i].name != name {
		return entry{}, false
	}
	return c.entries[i], true
}

// Var returns a variable by name, nil if there is none.
func (c *Console) Var(name string) *Var {
	e, _ := c.find(name)
	return e.v
}

// Execute runs a line and appends the lines to show. The name of a variable shows it; with a value
// after it, it sets it. A line with an error has changed nothing, unless its command says
// otherwise.
func (c *Console) Execute(out []string, line string, who Caller) ([]string, error) {
	return c.run(out, line, who, 0)
}

// run is Execute for a line of a file at some depth.
func (c *Console) run(out []string, line string, who Caller, depth int) ([]string, error) {
	words, err := Split(line)
	if err != nil || len(words) == 0 {
		return out, err
	}
	e, ok := c.find(words[0])
	if !ok {
		return out, fmt.Errorf("%s: expected a variable or command; see help", quoteWord(words[0]))
	}
	call := Call{Caller: who, Args: words[1:], out: out}
	if e.v != nil {
		err = c.variable(&call, e.v)
	} else {
		c.queue.depth = depth
		err = c.command(&call, e.command)
	}
	return call.out, err
}

func (c *Console) variable(call *Call, v *Var) error {
	switch len(call.Args) {
	case 0:
		if err := v.readable(call.Caller); err != nil {
			return err
		}
		call.Say("%s", v.describe())
		return nil
	case 1:
		return c.set(v, call.Args[0], call.Caller)
	}
	return fmt.Errorf("%s: %d values: expected one, in quotes if it has spaces", v.name, len(call.Args))
}

func (c *Console) command(call *Call, cmd *Command) error {
	if err := permit(call.Caller, cmd.Name, cmd.Flags, cmd.Needs); err != nil {
		return err
	}
	if n := len(call.Args); n < cmd.MinArgs || n > cmd.MaxArgs {
		return fmt.Errorf("%s: %d arguments: expected %s", cmd.Name, n, cmd.usage())
	}
	return cmd.Run(call)
}

// readable returns why a caller may not read the variable, nil if it may.
func (v *Var) readable(who Caller) error {
	if v.flags&ServerInfo != 0 && who.Rank >= Guest && who.Rank <= Operator {
		return nil
	}
	return permit(who, v.name, v.flags, v.needs)
}

// describe returns the variable, its value and its default in one line.
func (v *Var) describe() string {
	s := fmt.Sprintf("%s %s", v.name, Quote(v.String()))
	if v.Changed() {
		s += fmt.Sprintf(" (default %s)", Quote(v.show(v.initial)))
	}
	return s
}

// Set gives a variable a value, with the permissions of a caller.
func (c *Console) Set(name, word string, who Caller) error {
	v := c.Var(name)
	if v == nil {
		return fmt.Errorf("%s: expected a variable; see vars", quoteWord(name))
	}
	return c.set(v, word, who)
}

func (c *Console) set(v *Var, word string, who Caller) error {
	if err := permit(who, v.name, v.flags, v.needs); err != nil {
		return err
	}
	x, err := v.parse(word)
	if err != nil {
		return err
	}
	if v.flags&Cheat != 0 && x != v.initial && !c.cheats.Bool() {
		return fmt.Errorf("%s %s: expected the default, %s, while cheats is false",
			v.name, quoteWord(word), v.show(v.initial))
	}
	v.assign(x)
	if v == c.cheats && !v.Bool() {
		for other := range c.vars() {
			if other.flags&Cheat != 0 {
				other.assign(other.initial)
			}
		}
	}
	return nil
}

// vars yields all variables, by name.
func (c *Console) vars() iter.Seq[*Var] {
	return func(yield func(*Var) bool) {
		for _, e := range c.entries {
			if e.v != nil && !yield(e.v) {
				return
			}
		}
	}
}

// Dirty yields, by name, the variables with any of the flags that have changed since Dirty last
// yielded them for those flags: ServerInfo for changes that clients must get, Save for changes that
// no file has.
func (c *Console) Dirty(flags Flags) iter.Seq[*Var] {
	return func(yield func(*Var) bool) {
		for v := range c.vars() {
			if v.dirty&flags == 0 {
				continue
			}
			v.dirty &^= flags
			if !yield(v) {
				return
			}
		}
	}
}

package console

import (
	"fmt"
	"io/fs"
	"iter"
	"sort"
	"strings"
)

// Config is what a console has of the world outside. Zero fields mean that there is none.
type Config struct {
	Files fs.FS                                // from which exec and loadconfig read
	Write func(name string, text []byte) error // by which saveconfig writes; whole or not at all
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

// Command is something to be done.
type Command struct {
	Entry
	Usage       string // its arguments, as "NAME [SECONDS]"
	Least, Most int    // arguments it takes
	Run         func(*Call) error
}

// use is how the command is called.
func (cmd *Command) use() string { return strings.TrimSpace(cmd.Name + " " + cmd.Usage) }

// Call is a command being carried out.
type Call struct {
	Who  Caller
	Args []string // without the command's name; as many as the command takes
	out  []string
	said int
}

// maxOutput is the most lines that one command has to say.
const maxOutput = 1024

// Say adds a line to what the caller is shown.
func (c *Call) Say(format string, args ...any) {
	switch c.said++; {
	case c.said <= maxOutput:
		c.out = append(c.out, fmt.Sprintf(format, args...))
	case c.said == maxOutput+1:
		c.out = append(c.out, "...")
	}
}

// New makes a console with the commands that every one has, and the variable cheats.
func New(cfg Config) *Console {
	c := &Console{cfg: cfg}
	c.cheats = NewBool(Entry{Name: "cheats", Help: "let variables that are cheats differ from their defaults", Flags: ServerInfo | Remote}, false)
	c.Add(c.cheats)
	c.addBuiltins()
	return c
}

// Add gives it variables. Two entries of one name are a bug, and panic.
func (c *Console) Add(vars ...*Var) {
	for _, v := range vars {
		c.insert(entry{name: v.name, v: v})
	}
}

// AddCommand gives it a command.
func (c *Console) AddCommand(cmd Command) {
	if !ValidName(cmd.Name) || cmd.Run == nil || cmd.Least > cmd.Most || cmd.Most >= MaxWords {
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

// Execute runs a line and appends what there is to show. A variable's name alone shows it, with a value behind it sets it.
// A line with an error has changed nothing, unless a command's own documentation says otherwise.
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
		return out, fmt.Errorf("%s: expected a variable or command; see help", brief(words[0]))
	}
	call := Call{Who: who, Args: words[1:], out: out}
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
		if err := v.readable(call.Who); err != nil {
			return err
		}
		call.Say("%s", v.describe())
		return nil
	case 1:
		return c.set(v, call.Args[0], call.Who)
	}
	return fmt.Errorf("%s: %d values: expected one, in quotes if it has spaces", v.name, len(call.Args))
}

func (c *Console) command(call *Call, cmd *Command) error {
	if err := permit(call.Who, cmd.Name, cmd.Flags, cmd.Needs); err != nil {
		return err
	}
	if n := len(call.Args); n < cmd.Least || n > cmd.Most {
		return fmt.Errorf("%s: %d arguments: expected %s", cmd.Name, n, cmd.use())
	}
	return cmd.Run(call)
}

// readable returns why a caller may not see the value.
func (v *Var) readable(who Caller) error {
	if v.flags&ServerInfo != 0 && who.Rank >= Guest && who.Rank <= Operator {
		return nil
	}
	return permit(who, v.name, v.flags, v.needs)
}

// describe is a variable in one line.
func (v *Var) describe() string {
	s := fmt.Sprintf("%s %s", v.name, Quote(v.String()))
	if v.Changed() {
		s += fmt.Sprintf(" (default %s)", Quote(v.show(v.normal)))
	}
	return s
}

// Set gives a variable a value, as a line of who would.
func (c *Console) Set(name, word string, who Caller) error {
	v := c.Var(name)
	if v == nil {
		return fmt.Errorf("%s: expected a variable; see vars", brief(name))
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
	if v.flags&Cheat != 0 && x != v.normal && !c.cheats.Bool() {
		return fmt.Errorf("%s %s: expected the default, %s, while cheats is false", v.name, brief(word), v.show(v.normal))
	}
	v.put(x)
	if v == c.cheats && !v.Bool() {
		for other := range c.vars() {
			if other.flags&Cheat != 0 {
				other.put(other.normal)
			}
		}
	}
	return nil
}

// vars are all variables, by name.
func (c *Console) vars() iter.Seq[*Var] {
	return func(yield func(*Var) bool) {
		for _, e := range c.entries {
			if e.v != nil && !yield(e.v) {
				return
			}
		}
	}
}

// Dirty yields, by name, the variables with any of the flags that have changed since they were last told: ServerInfo for what clients
// must be told, Save for what a file does not have yet. What it has yielded counts as told, for those flags only.
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

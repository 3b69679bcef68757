package console

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/protocol"
)

// Kind says what a variable's value is.
type Kind uint8

// The kinds.
const (
	Bool     Kind = iota
	Int           // int64
	Float         // float64, finite
	Duration      // with a unit, as 1.5s
	Text          // printable UTF-8
	Enum          // one of a few words
)

// value is a value of any kind: number has bools, integers, durations and the index of an enum.
type value struct {
	number int64
	float  float64
	text   string
}

// Var is a variable. Make one with NewBool and its like, and give it to a console, which alone may change it.
type Var struct {
	name, help string
	flags      Flags
	needs      Rank // of remote callers who set it
	kind       Kind

	now, normal value
	least, most value    // of Int, Float, Duration
	limit       int      // bytes of Text
	choices     []string // of Enum

	check func(word string) error

	dirty Flags // of its flags, those for which a change has not been told yet
}

// Entry is what variables and commands of every kind have.
type Entry struct {
	Name  string // ^[a-z_+-][a-z0-9_+.-]*$, at most MaxName bytes
	Help  string // one line
	Flags Flags
	Needs Rank // of remote callers, if Flags has Remote; default Admin. Of a variable: to set it
}

func newVar(e Entry, kind Kind, normal value) *Var {
	if !ValidName(e.Name) {
		panic(fmt.Sprintf("console: variable %q: not a name", e.Name))
	}
	if e.Flags&(Save|Cheat) == Save|Cheat {
		panic("console: variable " + e.Name + " is saved and a cheat: a file would be refused while cheats is off")
	}
	return &Var{name: e.Name, help: e.Help, flags: e.Flags, needs: e.Needs, kind: kind, now: normal, normal: normal}
}

// checked holds a new variable's default to its own range.
func (v *Var) checked() *Var {
	if _, err := v.parse(v.show(v.normal)); err != nil {
		panic("console: default of " + err.Error())
	}
	return v
}

// NewBool makes a variable that is true or false. Like its fellows it panics if the entry or the default is no good.
func NewBool(e Entry, normal bool) *Var {
	var n int64
	if normal {
		n = 1
	}
	return newVar(e, Bool, value{number: n})
}

// NewInt makes a variable that is an integer from least to most.
func NewInt(e Entry, normal, least, most int64) *Var {
	v := newVar(e, Int, value{number: normal})
	v.least.number, v.most.number = least, most
	return v.checked()
}

// NewFloat makes a variable that is a finite number from least to most.
func NewFloat(e Entry, normal, least, most float64) *Var {
	if math.IsInf(least, 0) || math.IsInf(most, 0) {
		panic("console: variable " + e.Name + " may be infinite")
	}
	v := newVar(e, Float, value{float: normal})
	v.least.float, v.most.float = least, most
	return v.checked()
}

// NewDuration makes a variable that is a time from least to most.
func NewDuration(e Entry, normal, least, most time.Duration) *Var {
	v := newVar(e, Duration, value{number: int64(normal)})
	v.least.number, v.most.number = int64(least), int64(most)
	return v.checked()
}

// NewText makes a variable that is printable text of at most limit bytes; limit is at most MaxLine/4, so that it can be written in a
// line.
func NewText(e Entry, normal string, limit int) *Var {
	v := newVar(e, Text, value{text: normal})
	if v.limit = limit; limit > MaxLine/4 {
		panic("console: variable " + e.Name + ": text longer than a line")
	}
	return v.checked()
}

// NewEnum makes a variable that is one of some words; its default is the first.
func NewEnum(e Entry, choices ...string) *Var {
	v := newVar(e, Enum, value{})
	v.choices = slices.Clone(choices)
	return v.checked()
}

// Check adds a condition to what the variable's kind and range ask of a value. fails returns what is expected instead, as an error; it
// gets a value as it is written. A default that fails panics.
func (v *Var) Check(fails func(word string) error) {
	v.check = fails
	v.checked()
}

// Name is the variable's name.
func (v *Var) Name() string { return v.name }

// String is the value as it is written in a line, without quotes.
func (v *Var) String() string { return v.show(v.now) }

// Changed reports whether the value is not the default.
func (v *Var) Changed() bool { return v.now != v.normal }

// Bool is the value of a variable that NewBool made; asking another is a bug and panics. So it is with the next.
func (v *Var) Bool() bool { return v.of(Bool).number != 0 }

// Int is the value of a variable that NewInt made.
func (v *Var) Int() int64 { return v.of(Int).number }

// Float is the value of a variable that NewFloat made.
func (v *Var) Float() float64 { return v.of(Float).float }

// Duration is the value of a variable that NewDuration made.
func (v *Var) Duration() time.Duration { return time.Duration(v.of(Duration).number) }

// Text is the value of a variable that NewText made.
func (v *Var) Text() string { return v.of(Text).text }

// Choice is the index of the value of a variable that NewEnum made.
func (v *Var) Choice() int { return int(v.of(Enum).number) }

func (v *Var) of(kind Kind) value {
	if v.kind != kind {
		panic("console: variable " + v.name + " is " + v.expected())
	}
	return v.now
}

func (v *Var) show(x value) string {
	switch v.kind {
	case Bool:
		return strconv.FormatBool(x.number != 0)
	case Int:
		return strconv.FormatInt(x.number, 10)
	case Float:
		return strconv.FormatFloat(x.float, 'g', -1, 64)
	case Duration:
		return time.Duration(x.number).String()
	case Enum:
		if int(x.number) < len(v.choices) {
			return v.choices[x.number]
		}
		return ""
	}
	return x.text
}

// parse reads a value, which is good for this variable unless there is an error.
func (v *Var) parse(word string) (x value, err error) {
	good := false
	switch v.kind {
	case Bool:
		x.number, good = parseBool(word)
	case Int:
		x.number, err = strconv.ParseInt(word, 10, 64)
		good = err == nil && x.number >= v.least.number && x.number <= v.most.number
	case Float:
		x.float, err = strconv.ParseFloat(word, 64)
		good = err == nil && x.float >= v.least.float && x.float <= v.most.float // NaN is neither
		x.float += 0                                                             // of the two zeros the positive one: they are equal, and written alike
	case Duration:
		var d time.Duration
		d, err = time.ParseDuration(word)
		x.number = int64(d)
		good = err == nil && x.number >= v.least.number && x.number <= v.most.number
	case Text:
		x.text, good = word, protocol.ValidText([]byte(word), v.limit)
	case Enum:
		i := slices.Index(v.choices, word)
		x.number, good = int64(i), i >= 0
	}
	if !good {
		return value{}, fmt.Errorf("%s %s: expected %s", v.name, brief(word), v.expected())
	}
	if v.check != nil {
		if err := v.check(v.show(x)); err != nil {
			return value{}, fmt.Errorf("%s %s: expected %w", v.name, brief(word), err)
		}
	}
	return x, nil
}

func parseBool(word string) (n int64, good bool) {
	switch word {
	case "1", "true", "on":
		return 1, true
	case "0", "false", "off":
		return 0, true
	}
	return 0, false
}

// expected says what values there are.
func (v *Var) expected() string {
	switch v.kind {
	case Bool:
		return "true or false"
	case Int:
		return fmt.Sprintf("an integer, %s to %s", v.show(v.least), v.show(v.most))
	case Float:
		return fmt.Sprintf("a number, %s to %s", v.show(v.least), v.show(v.most))
	case Duration:
		return fmt.Sprintf("a time, %s to %s", v.show(v.least), v.show(v.most))
	case Text:
		return fmt.Sprintf("printable text of at most %d bytes", v.limit)
	}
	return "one of " + strings.Join(v.choices, ", ")
}

// put gives it a value that parse has returned.
func (v *Var) put(x value) {
	if x != v.now {
		v.now, v.dirty = x, v.flags
	}
}

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

// Kind is the type of a variable's value.
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

// value is a value of any kind. number has a Bool, an Int, a Duration, or the index of an Enum.
type value struct {
	number int64
	float  float64
	text   string
}

// Var is a variable. NewBool and the other constructors make one; the console that it is added to
// changes it.
type Var struct {
	name, help string
	flags      Flags
	needs      Rank // of remote callers that set it
	kind       Kind

	current, initial value
	min, max         value    // of Int, Float, Duration
	limit            int      // bytes of Text
	choices          []string // of Enum
	fixed            bool     // nobody sets it

	check func(word string) error

	dirty Flags // flags for which Dirty has not reported the last change
}

// Entry has the properties that variables and commands share.
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
		panic("console: variable " + e.Name + " is saved and a cheat: expected one of the two flags")
	}
	return &Var{
		name: e.Name, help: e.Help, flags: e.Flags, needs: e.Needs, kind: kind,
		current: normal, initial: normal,
	}
}

// checked panics if the default of a new variable is not valid.
func (v *Var) checked() *Var {
	if _, err := v.parse(v.show(v.initial)); err != nil {
		panic("console: default of " + err.Error())
	}
	return v
}

// NewBool returns a variable that is true or false. Every constructor panics if the entry or the
// default is not valid.
func NewBool(e Entry, normal bool) *Var {
	var n int64
	if normal {
		n = 1
	}
	return newVar(e, Bool, value{number: n})
}

// NewInt returns an integer variable from least to most.
func NewInt(e Entry, normal, least, most int64) *Var {
	v := newVar(e, Int, value{number: normal})
	v.min.number, v.max.number = least, most
	return v.checked()
}

// NewFixed returns an integer variable that cannot be set.
func NewFixed(e Entry, n int64) *Var {
	v := NewInt(e, n, n, n)
	v.fixed = true
	return v
}

// NewFloat returns a variable that is a finite number from least to most.
func NewFloat(e Entry, normal, least, most float64) *Var {
	if math.IsInf(least, 0) || math.IsInf(most, 0) {
		panic("console: variable " + e.Name + " may be infinite")
	}
	v := newVar(e, Float, value{float: normal})
	v.min.float, v.max.float = least, most
	return v.checked()
}

// NewDuration returns a variable that is a time from least to most.
func NewDuration(e Entry, normal, least, most time.Duration) *Var {
	v := newVar(e, Duration, value{number: int64(normal)})
	v.min.number, v.max.number = int64(least), int64(most)
	return v.checked()
}

// NewText returns a variable that is printable text of at most limit bytes. limit is at most
// MaxLine/4, so that a line can hold the quoted text.
func NewText(e Entry, normal string, limit int) *Var {
	v := newVar(e, Text, value{text: normal})
	if v.limit = limit; limit > MaxLine/4 {
		panic("console: variable " + e.Name + ": text longer than a line")
	}
	return v.checked()
}

// NewEnum returns a variable that is one of some words; the first one is the default.
func NewEnum(e Entry, choices ...string) *Var {
	v := newVar(e, Enum, value{})
	v.choices = slices.Clone(choices)
	return v.checked()
}

// Check adds a condition to the kind and range of a variable. fails gets a value as it is written
// and returns what is expected instead, as an error. Check panics if the default fails.
func (v *Var) Check(fails func(word string) error) {
	v.check = fails
	v.checked()
}

// Name returns the variable's name.
func (v *Var) Name() string { return v.name }

// String returns the value as it is written in a line, without quotes.
func (v *Var) String() string { return v.show(v.current) }

// Changed reports whether the value is not the default.
func (v *Var) Changed() bool { return v.current != v.initial }

// Bool returns the value of a variable of NewBool. Like the other getters it panics for another
// kind.
func (v *Var) Bool() bool { return v.of(Bool).number != 0 }

// Int returns the value of a variable of NewInt.
func (v *Var) Int() int64 { return v.of(Int).number }

// Float returns the value of a variable of NewFloat.
func (v *Var) Float() float64 { return v.of(Float).float }

// Duration returns the value of a variable of NewDuration.
func (v *Var) Duration() time.Duration { return time.Duration(v.of(Duration).number) }

// Text returns the value of a variable of NewText.
func (v *Var) Text() string { return v.of(Text).text }

// Choice returns the index of the value of a variable of NewEnum.
func (v *Var) Choice() int { return int(v.of(Enum).number) }

func (v *Var) of(kind Kind) value {
	if v.kind != kind {
		panic("console: variable " + v.name + " is " + v.expected())
	}
	return v.current
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

// parse reads a value and checks that it is valid for the variable.
func (v *Var) parse(word string) (x value, err error) {
	if v.fixed && word != v.show(v.current) {
		return value{}, fmt.Errorf("%s is read-only: it is %s", v.name, v.show(v.current))
	}
	good := false
	switch v.kind {
	case Bool:
		x.number, good = parseBool(word)
	case Int:
		x.number, err = strconv.ParseInt(word, 10, 64)
		good = err == nil && x.number >= v.min.number && x.number <= v.max.number
	case Float:
		x.float, err = strconv.ParseFloat(word, 64)
		good = err == nil && x.float >= v.min.float && x.float <= v.max.float // false for NaN
		x.float += 0                                                          // turns -0 into 0
	case Duration:
		var d time.Duration
		d, err = time.ParseDuration(word)
		x.number = int64(d)
		good = err == nil && x.number >= v.min.number && x.number <= v.max.number
	case Text:
		x.text, good = word, protocol.ValidText([]byte(word), v.limit)
	case Enum:
		i := slices.Index(v.choices, word)
		x.number, good = int64(i), i >= 0
	}
	if !good {
		return value{}, fmt.Errorf("%s %s: expected %s", v.name, quoteWord(word), v.expected())
	}
	if v.check != nil {
		if err := v.check(v.show(x)); err != nil {
			return value{}, fmt.Errorf("%s %s: expected %w", v.name, quoteWord(word), err)
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

// expected describes the valid values.
func (v *Var) expected() string {
	if v.fixed {
		return "read-only"
	}
	switch v.kind {
	case Bool:
		return "true or false"
	case Int:
		return fmt.Sprintf("an integer, %s to %s", v.show(v.min), v.show(v.max))
	case Float:
		return fmt.Sprintf("a number, %s to %s", v.show(v.min), v.show(v.max))
	case Duration:
		return fmt.Sprintf("a time, %s to %s", v.show(v.min), v.show(v.max))
	case Text:
		return fmt.Sprintf("printable text of at most %d bytes", v.limit)
	}
	return "one of " + strings.Join(v.choices, ", ")
}

// assign sets a value that parse has returned.
func (v *Var) assign(x value) {
	if x != v.current {
		v.current, v.dirty = x, v.flags
	}
}

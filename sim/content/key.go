package content

import (
	"fmt"
	"strings"
)

// key is one key of a table: its name, the sides that need it, its allowed values and the field
// that it sets.
type key struct {
	name    string
	lo, hi  float64
	side    Side
	may     bool // may be left out: 0
	choices []string
	first   int                // value of choices[0]
	when    func(row any) bool // rows that have the key; nil: all
	at      func(row any) any  // pointer to the field, or *rows
	sub     table              // of a table or an array of tables
	mark    func(row any) Side // of a row of an array: the sides that need it
}

// table is the keys of a row, in the order of the canonical text.
type table []key

// rows is an array of tables: each comes to be, in its order, and is visited.
type rows struct {
	grow func() any
	len  int
	get  func(i int) any
}

// list wraps a slice of rows. grow appends a zero row; a pointer from get is valid until then.
func list[R any](of *[]R) any {
	return &rows{
		grow: func() any { *of = append(*of, *new(R)); return &(*of)[len(*of)-1] },
		len:  len(*of),
		get:  func(i int) any { return &(*of)[i] },
	}
}

// option changes a key.
type option func(*key)

// optional lets a file leave the key out, which means 0.
func optional(k *key) { k.may = true }

// server marks a key that only servers read.
func server(k *key) { k.side = Server }

// client marks a key that only clients read; it is optional.
func client(k *key) { k.side, k.may = Client, true }

// words limits a key to names; the value of choices[0] is first.
func words(first int, choices ...string) option {
	return func(k *key) { k.choices, k.first = choices, first }
}

// when makes a key exist only in rows for which f holds. f sees the keys before it.
func when[R any](f func(*R) bool) option {
	return func(k *key) { k.when = func(row any) bool { return f(row.(*R)) } }
}

// keyOf describes a key of a row R that sets the field at returns. lo and hi limit numbers, and the
// length of a string in bytes.
func keyOf[R, F any](name string, lo, hi float64, at func(*R) *F, options ...option) key {
	k := key{name: name, lo: lo, hi: hi, at: func(row any) any { return at(row.(*R)) }}
	for _, o := range options {
		o(&k)
	}
	return k
}

// tableOf describes a nested table.
func tableOf[R, F any](name string, sub table, at func(*R) *F, options ...option) key {
	k := keyOf(name, 0, 0, at, options...)
	k.sub = sub
	return k
}

// listOf describes an array of at most most tables. It may be left out.
func listOf[R, F any](name string, most int, sub table, at func(*R) *[]F, options ...option) key {
	k := key{name: name, hi: float64(most), may: true, sub: sub,
		at: func(row any) any { return list(at(row.(*R))) }}
	for _, o := range options {
		o(&k)
	}
	return k
}

// applies reports whether a row has the key.
func (k *key) applies(row any) bool { return k.when == nil || k.when(row) }

// want says what a key may hold, for errors.
func (k *key) want(field any) string {
	switch field.(type) {
	case *bool:
		return "want true or false"
	case *rows:
		return fmt.Sprintf("want at most %g tables", k.hi)
	}
	if k.choices != nil {
		return "want " + strings.Join(k.choices, ", ")
	}
	if k.sub != nil {
		return "want a table"
	}
	return "want " + kindOf(field) + fmt.Sprintf(" %g to %g", k.lo, k.hi)
}

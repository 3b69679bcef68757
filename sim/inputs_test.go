package sim

import (
	"reflect"
	"testing"
)

// Equal looks at all that a diary says.
func TestDiaryEqual(t *testing.T) {
	var a TickInputs
	if b := (TickInputs{closed: true, Changes: []Change{}}); !a.Equal(&b) {
		t.Error("two that say nothing")
	}
	said := 0
	for i := range reflect.TypeFor[TickInputs]().NumField() {
		var b TickInputs
		switch f := reflect.ValueOf(&b).Elem().Field(i); {
		case !f.CanSet():
			continue // how far it is, not what it says
		case f.Kind() == reflect.Slice:
			f.Set(reflect.Append(f, reflect.Zero(f.Type().Elem())))
		default:
			f.SetUint(1)
		}
		said++
		if a.Equal(&b) || b.Equal(&a) || !b.Equal(&b) {
			t.Errorf("%s is not compared", reflect.TypeFor[TickInputs]().Field(i).Name)
		}
	}
	if said != 6 {
		t.Errorf("%d fields", said)
	}
}

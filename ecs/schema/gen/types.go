package gen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/tickrate/tickrate/ecs/schema"
)

// component is one struct to write code for. The writers of its sections share the layout and only
// read it.
type component struct {
	*schema.Layout
}

// Generate writes the code for the named structs of a package, or, without names, for every struct
// that has a net tag on a field called _, by name. files are the package's, without tests and
// without generated ones; path is its import path; imp knows its imports. Functions that files call
// need not exist yet: bodies are not looked at. command is quoted in the head of the file. The
// result is the whole file; the first struct with a fault ends the work.
func Generate(
	fset *token.FileSet, files []*ast.File, path string, imp types.Importer, names []string, command string,
) ([]byte, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files: expected a package")
	}
	// A type that is missing because code is to be generated is no fault; but it may explain one.
	var first error
	conf := types.Config{Importer: imp, IgnoreFuncBodies: true, Error: func(err error) {
		if first == nil {
			first = err
		}
	}}
	pkg, _ := conf.Check(path, fset, files, nil)
	if len(names) == 0 {
		names = marked(pkg.Scope())
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("package %s: no struct has a %s tag on a field called _; name one with --type",
			pkg.Name(), schema.TagKey)
	}
	var all []component
	for _, name := range names {
		l, err := layoutOf(pkg, name)
		if err != nil && first != nil && strings.Contains(err.Error(), "invalid type") {
			err = fmt.Errorf("%w (%v)", err, first)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, component{l})
	}
	return write(pkg.Name(), all, command)
}

// marked lists the structs that ask for code by a net tag on a field called _, sorted by name.
func marked(scope *types.Scope) (names []string) {
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() {
			continue
		}
		if s, ok := t.Type().Underlying().(*types.Struct); ok {
			for i := range s.NumFields() {
				_, tagged := reflect.StructTag(s.Tag(i)).Lookup(schema.TagKey)
				if tagged && s.Field(i).Name() == "_" {
					names = append(names, name)
					break
				}
			}
		}
	}
	sort.Strings(names)
	return slices.Compact(names)
}

// layoutOf reads the tags of one struct. A derived field without its method is an error, and so is
// a field or method that has the name of a generated one.
func layoutOf(pkg *types.Package, name string) (*schema.Layout, error) {
	t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return nil, fmt.Errorf("package %s has no type %s", pkg.Name(), name)
	}
	root := nodeOf(t.Type(), types.RelativeTo(pkg))
	l, err := schema.NewLayout(name, root)
	if err != nil {
		return nil, err
	}
	for _, leaf := range l.Leaves {
		if leaf.Derived != "" {
			if err := checkDerive(pkg, t, l, leaf); err != nil {
				return nil, err
			}
		}
	}
	for s := range schema.Sections {
		for _, method := range []string{"Row", "Restore", "Lerp"} {
			method += suffix(l, s)
			what, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, pkg, method)
			if l.Uses(s) && what != nil {
				return nil, fmt.Errorf("%w: %s.%s: expected another name, "+
					"the generated code has a method of this one",
					schema.ErrSchema, name, method)
			}
		}
	}
	return l, nil
}

// checkDerive looks for the method that a field is derived by. The method takes nothing and returns
// one value of exactly the field's type; its receiver may be a pointer.
func checkDerive(pkg *types.Package, t *types.TypeName, l *schema.Layout, leaf schema.Leaf) error {
	field := t.Type()
	for _, i := range leaf.Index {
		switch u := field.Underlying().(type) {
		case *types.Struct:
			field = u.Field(i).Type()
		case *types.Array:
			field = u.Elem()
		}
	}
	what, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, pkg, leaf.Derived)
	if m, ok := what.(*types.Func); ok {
		sig := m.Signature()
		if sig.Params().Len() == 0 && sig.Results().Len() == 1 &&
			types.Identical(sig.Results().At(0).Type(), field) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s.%s: option derive=%s: expected a method %s() %s of %s",
		schema.ErrSchema, l.Type, leaf.Path, leaf.Derived,
		leaf.Derived, types.TypeString(field, types.RelativeTo(pkg)), l.Type)
}

// nodeOf is the tags' view of t, with the names of types relative to q. Pointers, slices, maps and
// interfaces are schema.Foreign, the zero Kind.
func nodeOf(t types.Type, q types.Qualifier) schema.Node {
	n := schema.Node{Type: types.TypeString(t, q), Exported: true}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		n.Kind, n.Bits = basic(u.Kind())
	case *types.Array:
		n.Kind, n.Len, n.Elems = schema.Array, int(u.Len()), []schema.Node{nodeOf(u.Elem(), q)}
	case *types.Struct:
		n.Kind = schema.Struct
		for i := range u.NumFields() {
			f := u.Field(i)
			e := nodeOf(f.Type(), q)
			e.Field, e.Exported = f.Name(), f.Exported()
			e.Tag, e.Tagged = reflect.StructTag(u.Tag(i)).Lookup(schema.TagKey)
			n.Elems = append(n.Elems, e)
		}
	}
	return n
}

// basic is the kind and the width in bits of a basic type. int and uint have 64 bits on every
// machine, so that two ends have one schema. float64, complex numbers and strings are Foreign.
func basic(k types.BasicKind) (schema.Kind, int) {
	switch k {
	case types.Bool:
		return schema.Bool, 1
	case types.Int8:
		return schema.Int, 8
	case types.Int16:
		return schema.Int, 16
	case types.Int32:
		return schema.Int, 32
	case types.Int, types.Int64:
		return schema.Int, 64
	case types.Uint8:
		return schema.Uint, 8
	case types.Uint16:
		return schema.Uint, 16
	case types.Uint32:
		return schema.Uint, 32
	case types.Uint, types.Uint64:
		return schema.Uint, 64
	case types.Float32:
		return schema.Float, 32
	default:
		return schema.Foreign, 0
	}
}

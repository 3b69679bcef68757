// Package gen writes the Go code that captures, restores and interpolates a component as its net
// tags say. Go source goes in, gofmt-ed Go source comes out, the same bytes for the same input;
// package schema's ReflectCodec does the same by reflection, and tests hold one to the other. What
// the tags mean is written in package schema. Command structgen in this folder calls Run; a file of
// the components' package has
//
//	//go:generate go run github.com/tickrate/tickrate/ecs/schema/gen/structgen
//
// For a component T the code has, for each section that T uses (for a second and third section,
// names carry Owner or Others):
//
//	const TX, TYaw, ..., TFields        the fields of a row, and how many there are
//	const THash                         the schema's hash
//	var TSchema                         the schema
//	func (v *T) Row(dst []int32)        captures one component
//	func TColumns(dst [][]int32, src []T)   captures many, a column a field
//	func (v *T) Restore(row []int32)    the way back
//	func (v *T) Lerp(a, b []int32, frac uint8)  restores what lies between two rows
//
// Files, in the order of the data:
//
//	run.go      the directory of a package goes in, a written file comes out; calls the go command
//	types.go    parsed files go in, one schema.Layout per struct comes out
//	write.go    layouts go in, formatted source comes out
//
// Faults of tags wrap schema.ErrSchema and name the struct and the field. Run writes only if every
// struct is free of them.
package gen

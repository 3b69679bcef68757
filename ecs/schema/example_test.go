package schema_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Reflect reads the tags of a struct at run time. structgen writes the same as plain code, which is
// what a server runs.
func ExampleReflect() {
	type Body struct {
		_      struct{} `net:"body"`
		Height float32  `net:",quant=100,min=0,max=2,interp=linear"`
		Health uint8    `net:",max=100"`
	}
	twin, err := schema.Reflect[Body]()
	if err != nil {
		fmt.Println(err)
		return
	}
	a := twin.Capture(&Body{Height: 1, Health: 80}, schema.Everyone)
	b := twin.Capture(&Body{Height: 1.5, Health: 60}, schema.Everyone)
	var between Body
	twin.Lerp(&between, schema.Everyone, a, b, 128)
	fmt.Println(twin.Schemas[schema.Everyone].Fields[0].Name, a, b, between.Height, between.Health)
	// Output: height [100 80] [150 60] 1.25 80
}

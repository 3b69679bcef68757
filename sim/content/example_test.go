package content_test

import (
	"fmt"

	"github.com/tickrate/tickrate/sim/content"
)

// A server reads its pack, compiles it for its tick rate and opens a map.
func Example() {
	pack := content.DefaultFor(content.Server)
	tables, err := pack.Compile(60)
	if err != nil {
		fmt.Println(err)
		return
	}
	stage, err := tables.Stage(tables.Map("arena-64"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for id, hero := range tables.Heroes {
		fmt.Println(id, hero.Name, hero.Ability.Health())
	}
	fmt.Println(stage.Points, len(stage.Barrels), "barrels")
	// Output:
	// 0 terraformer 100
	// 1 robot 100
	// [A B C] 6 barrels
}

package itr

import "testing"

func TestReal(t *testing.T) {
	for _, f := range []string{"cubes_a", "lobby_16_train", "lobby_64_train"} {
		tr, err := Open("/work/shared/traces/itr/" + f + ".itr")
		if err != nil {
			t.Fatal(err)
		}
		t.Log(tr.TickRate, tr.Entities, len(tr.Fields), len(tr.Snapshots), tr.Row(100, 5))
	}
}

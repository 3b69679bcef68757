package director

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/tickrate/tickrate/fleet/announce"
)

// Values of the store that nobody of the fleet wrote, or that were written under another name, promise
// no places and answer no request. They are overwritten.
func TestForgedValuesOfTheStore(t *testing.T) {
	ctx := context.Background()
	d := testDirector(t, testBus(t), nil)
	defer d.Close()
	host := testHost(0, 0, 0)
	host.MostRooms = 2
	d.known(host)
	ask := Ask{"r", 1, "a", "m", 0}
	want, err := d.Match(ctx, ask)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := d.store.requests.Keys(ctx)
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys %v, %v", keys, err)
	}
	whole, err := d.store.requests.Get(ctx, keys[0])
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := (&announce.Key{9}).SealKept(requestBucket+"/"+keys[0], &placement{Ask: ask})
	if err != nil {
		t.Fatal(err)
	}
	other, err := fleetKey.SealKept(requestBucket+"/other", &placement{Ask: ask})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"sealed with another key": {foreign, announce.ErrKey}, "of another name": {other, announce.ErrSubject},
		"not sealed": {[]byte(`{"request_id":"r","players":1,"map":"a","mode":"m"}`), announce.ErrForeign},
	} {
		if err := fleetKey.OpenKept(requestBucket+"/"+keys[0], c.raw, new(placement)); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if _, err := d.store.requests.Put(ctx, keys[0], c.raw); err != nil {
			t.Fatal(err)
		}
		if a, err := d.Match(ctx, ask); err != nil || reflect.DeepEqual(a, want) || len(a.Servers) == 0 {
			t.Errorf("%s: answer %+v, %v", name, a, err)
		}
	}
	if _, err := d.store.requests.Put(ctx, keys[0], whole.Value()); err != nil {
		t.Fatal(err)
	}
	if a, err := d.Match(ctx, ask); err != nil || !reflect.DeepEqual(a, want) {
		t.Errorf("the fleet's own value: %+v, %v", a, err)
	}
	room := roomKey{host.Instance, 1}
	if _, err := d.store.rooms.Put(ctx, room.text(), []byte(`[{"request":"x","until":9999999999999,"mark":8}]`)); err != nil {
		t.Fatal(err)
	}
	if of, err := d.store.holdsOf(ctx, room); err != nil || of.mark() != 0 || of.revision == 0 {
		t.Errorf("forged reservations: %+v, %v", of, err)
	}
}

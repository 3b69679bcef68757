package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

// Two ends with other schemas or models learn what differs, as an error that a caller can tell apart.
func TestMatch(t *testing.T) {
	type Body struct {
		X   float32 `net:"x,quant=16,min=-64,max=64"`
		Yaw uint16  `net:"yaw,wrap=65536"`
	}
	type Turned struct {
		_   struct{} `net:"body"`
		X   float32  `net:"x,quant=16,min=-64,max=64"`
		Yaw uint8    `net:"yaw,wrap=256"`
	}
	of := func(c *schema.ReflectCodec, err error) schema.Schema {
		if err != nil {
			t.Fatal(err)
		}
		return c.Schemas[schema.Everyone]
	}
	body, turned := of(schema.Reflect[Body]()), of(schema.Reflect[Turned]())
	kind := schema.Schema{Name: "body", Fields: append([]schema.Field(nil), body.Fields...)}
	kind.Fields[1].Spawn = schema.SpawnKind
	set := func(all ...schema.Schema) schema.Set {
		var models []*schema.Model
		for _, s := range all {
			models = append(models, schema.DefaultModel(s))
		}
		return schema.SetOf(models...)
	}
	ranged := schema.SetOf(schema.DefaultModel(body).With(schema.Range))
	for i, c := range []struct {
		here, there schema.Set
		field, diff string
	}{
		{set(body), set(body), "", ""},
		{set(body), set(turned), "body.yaw", "body.yaw: wrap 65536 here, wrap 256 there"},
		{set(body), set(kind), "body.yaw", "body.yaw: spawn zero here, kind there"},
		{set(body), set(body, schema.Schema{Name: "ball", Fields: body.Fields}), "schema ball", "schema ball: only there"},
		{set(body), ranged, "", "model: "},
	} {
		text, err := c.there.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		err = c.here.Match(text)
		if c.diff == "" {
			if err != nil || c.here.Hash() != c.there.Hash() {
				t.Errorf("%d: %v", i, err)
			}
			continue
		}
		var e *schema.MismatchError
		if !errors.As(fmt.Errorf("join: %w", err), &e) || e.Field != c.field || !strings.HasPrefix(e.Diff, c.diff) ||
			e.Here != c.here.Hash() || e.There != c.there.Hash() || e.Here == e.There ||
			!strings.Contains(err.Error(), fmt.Sprintf("%016x here, %016x there", e.Here, e.There)) {
			t.Errorf("%d: %+v, want %q and %q", i, err, c.field, c.diff)
		}
	}
	if err := set(body).Match([]byte("hello")); !errors.Is(err, schema.ErrText) {
		t.Errorf("a text that is none: %v", err)
	}
}

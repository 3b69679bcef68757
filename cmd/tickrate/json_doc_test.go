package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// jsonKeys adds the keys of a type's JSON, and of the types within.
func jsonKeys(of reflect.Type, keys map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		jsonKeys(of.Elem(), keys)
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				keys[name] = true
			}
			if name != "-" && (name != "" || f.Anonymous) {
				jsonKeys(f.Type, keys)
			}
		}
	}
}

// docs/json.md names every key of the JSON that plan, swarm and /stats write. Names of times say
// milliseconds.
func TestJSONIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]reflect.Type{
		"plan.json": reflect.TypeFor[report.Plan](), "a step": reflect.TypeFor[stepLine](),
		"the knee": reflect.TypeFor[kneeLine](), "swarm --json": reflect.TypeFor[swarmSummary](),
		"/stats": reflect.TypeFor[metrics.Report](), "/stats?lobby=all": reflect.TypeFor[httpapi.HostReport](),
	} {
		keys := map[string]bool{}
		jsonKeys(of, keys)
		if len(keys) < 10 || !keys["type"] || !keys["version"] {
			t.Errorf("%s: %d keys, without type or version", name, len(keys))
		}
		for key := range keys {
			if !strings.Contains(string(raw), "`"+key+"`") && !strings.Contains(string(raw), `"`+key+`"`) {
				t.Errorf("%s: docs/json.md has no %s", name, key)
			}
			for _, unit := range []string{"_us", "_ns", "_mb", "_seconds", "_us_", "_ns_"} {
				if strings.HasSuffix(key, unit) || strings.Contains(key, unit) && strings.HasSuffix(unit, "_") {
					t.Errorf("%s: %s is in another unit than milliseconds and bytes", name, key)
				}
			}
		}
	}
}

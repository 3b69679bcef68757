package tickrate_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A checker that cannot fail proves nothing: each case plants one file in a small clean tree.
func TestLayersPlanted(t *testing.T) {
	table := []layer{
		{pkg: "ecs/geom"},
		{pkg: "ecs", may: "ecs/geom arche"},
		{pkg: "netio", may: "gnet", tests: "ecs/geom arche", shell: "*"},
		{pkg: "server", may: above, shell: "host*.go"},
	}
	clean := map[string]string{
		"ecs/geom/geom.go": "package geom\nimport \"time\"\nconst Second = time.Second",
		"ecs/ecs.go": "package ecs\nimport (\n\"" + module +
			"/ecs/geom\"\n_ \"github.com/mlange-42/arche/ecs\"\n)\nvar _ = geom.Second",
		"netio/netio.go": "package netio\nimport (\n\"net\"\n\"time\"\n)\nfunc f() { go f(); _ = " +
			"time.Now; _ = net.Dial }",
		"server/lobby.go": "package server\nimport (\n_ \"" + module +
			"/netio\"\n_ \"" + module + "/ecs\"\n)",
		"server/host.go":    "package server\nfunc run() { go run() }",
		"bin/nested/go.mod": "module nested",
		"ecs/tool/go.mod":   "module " + module + "/ecs/tool\n",
		"bin/nested/x.go":   "package anything",
		"ecs/_gen/x.go":     "package anything",
		"ecs/table.go":      "// Makes a table.\n\n//go:build ignore\n\npackage main\nimport _ \"net\"",
	}
	cases := []struct {
		name, file, text string
		want             string // part of a complaint; "" = no complaint at all
	}{
		/*  1 */ {"clean", "ecs/more.go", "package ecs", ""},
		/*  2 */ {"upward import", "ecs/geom/up.go", "package geom\nimport _ \"" + module + "/ecs\"",
			"ecs/geom/up.go:2: ecs/geom may not import ecs"},
		/*  3 */ {"sideways import", "ecs/side.go", "package ecs\nimport _ \"" + module + "/netio\"",
			"ecs may not import netio"},
		/*  4 */ {"above is not below", "netio/up.go",
			"package netio\nimport _ \"" + module + "/server\"", "netio may not import server"},
		/*  5 */ {"the root is not a station", "ecs/root.go",
			"package ecs\nimport _ \"" + module + "\"", "ecs may not import ."},
		/*  6 */ {"module away from home", "ecs/net.go",
			"package ecs\nimport _ \"github.com/panjf2000/gnet/v2/pkg/pool\"", "ecs may not import gnet"},
		/*  7 */ {"unknown module", "ecs/log.go", "package ecs\nimport _ \"github.com/sirupsen/logrus\"",
			"no module that layers_test.go knows"},
		/*  8 */ {"module with a longer name", "ecs/x.go",
			"package ecs\nimport _ \"github.com/mlange-42/arche-model\"",
			"no module that layers_test.go knows"},
		/*  9 */ {"test tool in code", "ecs/r.go", "package ecs\nimport _ \"pgregory.net/rapid\"",
			"ecs may not import rapid"},
		/* 10 */ {"test tool in a test", "ecs/r_test.go",
			"package ecs_test\nimport (\n_ \"pgregory.net/rapid\"\n_ \"" + module + "/ecs\"\n)", ""},
		/* 11 */ {"tests column", "netio/a_test.go", "package netio_test\nimport (\n_ \"" +
			module + "/ecs/geom\"\n_ \"github.com/mlange-42/arche/ecs\"\n)", ""},
		/* 12 */ {"tests column in code", "netio/a.go",
			"package netio\nimport _ \"" + module + "/ecs/geom\"", "netio may not import ecs/geom"},
		/* 13 */ {"test beyond its column", "ecs/s_test.go",
			"package ecs_test\nimport _ \"" + module + "/server\"", "ecs may not import server"},
		/* 14 */ {"no row", "audio/a.go", "package audio", "package audio has no row"},
		/* 15 */ {"drawer", "ecs/utils/u.go", "package utils", "utils is a drawer"},
		/* 16 */ {"package clause", "ecs/geom/geom.go", "package geometry",
			"package geometry in directory geom"},
		/* 17 */ {"clock", "ecs/c.go", "package ecs\nimport \"time\"\nfunc f() int64 { return " +
			"time.Now().Unix() }", "ecs/c.go:3: ecs is sans-I/O and may not use time.Now"},
		/* 18 */ {"renamed clock", "ecs/c.go", "package ecs\nimport clock \"time\"\nvar _ = clock.Since",
			"may not use time.Since"},
		/* 19 */ {"dotted clock", "ecs/c.go", "package ecs\nimport . \"time\"\nvar _ = Now",
			"may not import time"},
		/* 20 */ {"clock in a test", "ecs/c_test.go", "package ecs\nimport \"time\"\nvar _ = time.Now", ""},
		/* 21 */ {"goroutine", "ecs/g.go", "package ecs\nfunc f() { go f() }", "may not start a goroutine"},
		/* 22 */ {"goroutine beside the shell", "server/tick.go",
			"package server\nfunc f() { go f() }", "server is sans-I/O and may not start a goroutine"},
		/* 23 */ {"old global randomness", "ecs/r.go", "package ecs\nimport _ \"math/rand\"",
			"may not import math/rand"},
		/* 24 */ {"new global randomness", "ecs/r.go",
			"package ecs\nimport \"math/rand/v2\"\nvar _ = rand.IntN(3)", "may not use math/rand/v2.IntN"},
		/* 25 */ {"seeded randomness", "ecs/r.go",
			"package ecs\nimport \"math/rand/v2\"\nvar _ = rand.New(rand.NewPCG(1, 2))", ""},
		/* 26 */ {"socket", "ecs/s.go", "package ecs\nimport _ \"net\"", "may not import net"},
		/* 27 */ {"address", "ecs/s.go", "package ecs\nimport _ \"net/netip\"", ""},
		/* 28 */ {"other platform", "ecs/w_windows.go",
			"//go:build windows\n\npackage ecs\nimport _ \"net\"", "may not import net"},
		/* 29 */ {"the machine's clocks", "server/tick.go", "package server\nimport _ \"" + module +
			"/internal/clock\"", "server is sans-I/O and may not import " + module + "/internal/clock"},
		/* 30 */ {"no row in a module of ours", "ecs/tool/x.go", "package tool", "package ecs/tool has no row"},
	}
	for i, c := range cases {
		tree := fstest.MapFS{c.file: {Data: []byte(c.text)}}
		for name, text := range clean {
			if tree[name] == nil {
				tree[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		files, err := scan(tree)
		if err != nil {
			t.Fatalf("%d %s: %v", i+1, c.name, err)
		}
		got := check(files, table)
		if c.want == "" && len(got) > 0 {
			t.Errorf("%d %s: complains: %q", i+1, c.name, got)
		}
		if c.want != "" && !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%d %s: want a complaint with %q, got %q", i+1, c.name, c.want, got)
		}
	}
}

func TestLayersPlantedRow(t *testing.T) {
	files, err := scan(fstest.MapFS{"ecs/ecs.go": {Data: []byte("package ecs")}})
	if err != nil {
		t.Fatal(err)
	}
	got := check(files, []layer{{pkg: "ecs"}, {pkg: "gone"}})
	if len(got) != 1 || !strings.Contains(got[0], "the row of gone names no package") {
		t.Errorf("want one complaint about the row of gone, got %q", got)
	}
}

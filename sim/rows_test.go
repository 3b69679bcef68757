package sim

// Rows 4 and 13 of docs/features.md: systems, their runners, and what begins and ends with
// an entity.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/mode"
)

// TestRow04OrderOfRun: a step runs each system once, in the order of the table, and so does a loop
// over the systems.
func TestRow04OrderOfRun(t *testing.T) {
	var trace, want []string
	declared := systems
	systems = slices.Clone(declared)
	defer func() { systems = declared }()
	for i := range systems {
		s := &systems[i]
		run := s.run
		s.run = func(c *columns) {
			trace = append(trace, s.Name)
			run(c)
		}
		want = append(want, s.Name)
	}
	s := newScript(t, 8, Rules{Seed: 4, Mix: true}, "arena-16")
	for range 300 {
		trace = trace[:0]
		s.step()
		if !slices.Equal(trace, want) {
			t.Fatalf("tick %d ran %v, the table says %v", s.m.Tick(), trace, want)
		}
	}
	trace = trace[:0]
	s.m.Begin()
	for i := range Systems() {
		s.m.Run(i)
	}
	s.m.End()
	if !slices.Equal(trace, want) {
		t.Errorf("one by one ran %v, the table says %v", trace, want)
	}
}

// TestRow04BeginningsAndEnds: through random joins and leaves each player is set up just once, at
// the end of the tick of its join and before any system sees it, and leaves its team before its row
// is removed.
func TestRow04BeginningsAndEnds(t *testing.T) {
	m := newScript(t, 24, Rules{Seed: 44}, "arena-16").m
	begun, live := map[netid.ID]int{}, map[netid.ID]bool{}
	draws := uint64(0)
	roll := func(n uint64) uint64 { draws++; return draw(44, draws, 0) % n }
	for range 2000 {
		for range roll(4) {
			if id := m.World.At(int(roll(24))); id != 0 && roll(2) == 0 {
				v := m.Vital(id)
				team, watches := v.Team, m.Spectates(id)
				before := m.Score().Members
				m.Leave(id)
				if !watches && live[id] {
					before[team]--
				}
				m.Leave(id) // twice is once
				if after := m.Score().Members; after != before || m.Vital(id) == nil {
					t.Fatalf("tick %d: %v left: teams %v, want %v", m.Tick(), id, after, before)
				}
				delete(live, id)
				continue
			}
			id := m.Join()
			if roll(5) == 0 {
				m.JoinSpectator()
			}
			if id != 0 && m.Vital(id) != nil {
				t.Fatalf("%v is set up before the end of its tick", id)
			}
		}
		m.Step()
		for _, id := range m.World.Spawned() {
			begun[id]++
			live[id] = true
			if v := m.Vital(id); begun[id] != 1 || v == nil || v.Deaths != 0 || v.Kills != 0 ||
				m.clampLimits.Get(id).ClampLimits != (lagcomp.ClampLimits{}) {
				t.Fatalf("tick %d: %v is set up %d times: %+v", m.Tick(), id, begun[id], v)
			}
		}
		for _, id := range m.World.Despawned() {
			if live[id] || m.Vital(id) != nil || m.CommandBuffer(id) != nil {
				t.Fatalf("tick %d: %v is gone and was not ended", m.Tick(), id)
			}
			delete(begun, id)
		}
		var members [mode.Teams]uint16
		for id := range live {
			if begun[id] != 1 {
				t.Fatalf("tick %d: %v is set up %d times", m.Tick(), id, begun[id])
			}
			if v := m.Vital(id); !m.Spectates(id) {
				members[v.Team]++
			}
		}
		if members != m.Score().Members {
			t.Fatalf("tick %d: teams of %v, the score says %v", m.Tick(), members, m.Score().Members)
		}
	}
	if draws < 4000 {
		t.Errorf("only %d draws", draws)
	}
}

// TestRow13SystemsInOnePlace: whatever looks like a system is in the table, once, with its side;
// and what clients run as well touches nothing that only the server has.
func TestRow13SystemsInOnePlace(t *testing.T) {
	registered := map[string]int{}
	for _, s := range Systems() {
		full := runtime.FuncForPC(reflect.ValueOf(s.run).Pointer()).Name()
		registered[full[strings.LastIndexByte(full, '.')+1:]]++
		if s.Name == "" || s.Purpose == "" || len(s.Writes) == 0 || s.Side != Server && s.Side != Both {
			t.Errorf("%q says too little of itself: %+v", s.Name, s)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !looksLikeSystem(f) {
				continue
			}
			if found++; registered[f.Name.Name] != 1 {
				t.Errorf("%s: %s is in the table %d times", e.Name(), f.Name.Name, registered[f.Name.Name])
			}
		}
	}
	if found != len(Systems()) {
		t.Errorf("%d systems in the code, %d in the table", found, len(Systems()))
	}
	theirs := []Datum{dCommand, dVital, dAbility, dMotion, dInput, dActions}
	both := 0
	for _, s := range Systems() {
		if s.Side != Both {
			continue
		}
		both++
		for _, d := range append(slices.Clone(s.Reads), s.Writes...) {
			if !slices.Contains(theirs, d) {
				t.Errorf("%s is run by clients, too, which have no %s", s.Name, d)
			}
		}
	}
	if both == 0 {
		t.Error("clients run nothing")
	}
}

// looksLikeSystem reports whether a function takes columns alone, has no receiver, and gives
// nothing back.
func looksLikeSystem(f *ast.FuncDecl) bool {
	p := f.Type.Params.List
	if f.Recv != nil || f.Type.Results != nil || len(p) != 1 || len(p[0].Names) != 1 {
		return false
	}
	star, ok := p[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "columns"
}

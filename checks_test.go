package tickrate_test

import (
	"cmp"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// skips are the test functions, by package, that may leave something out in a full run on a machine
// that has all that CI has, or on a lesser one, by the reason. Not in the list: skips of
// -short and of the race detector, of inputs of a fuzzer, and of benchmarks.
var skips = []struct{ why, funcs string }{
	{"another make target or a flag runs it", ". TestDeadcode; cmd/tickrate TestWholeFleet; " +
		"e2e browser; bench/lobbysim TestTouched"},
	{"the system lacks what it tests", "server TestSteeringLive; server/host TestThreat36DiskFull TestJournal " +
		"TestJournalRefuses TestHostJournal TestLobbiesRefuseAfterRestart; deploy TestUnit; " +
		"cmd/tickrate serverApart TestDrainSignals TestKilledAndStartedAgain TestSwarmByADirector; " +
		"fleet/director TestRow80PlayerJoinsARealHost; " +
		"internal/perfevent counters; internal/hugepage TestHeapKeepsWhatItHolds " +
		"TestTouchBringsWhatWasAskedFor TestHeapStopsWhereItsContextEnds; internal/clock " +
		"TestThreadCPUCountsWorkNotSleep TestOnRestoresProcessors TestTakenByAnotherProcess " +
		"TestTakenNotByOurselves; netio TestPoolOfSeveralSharedSockets TestGSOBatchesDeliverTheSame " +
		"TestPoolCountsKernelDrops TestSocketBuffersAsLargeAsMayBe limit ipv6Loopback TestListenShared " +
		"TestListenSharedNeedsAFreePort; bench/runner TestProcessIsCounted; bench/swarm TestStalledDriverIsHelped"},
	{"the processor or the build has no assembly, or other assembly", "lagcomp/rig TestFirstSame; " +
		"lagcomp/internal/kernel TestManySame; internal/traceregion TestRegionsAllocateNothing"},
	{"a trace of the test itself runs", "server/host capturing; server/host/capture recorder; " +
		"server/httpapi TestStagesAreMarked TestCoarseRegions; internal/traceregion TestTraceHasTheRegions; " +
		"bench/lobbysim TestCapturedTickAllocatesNothing"},
	{"another process has taken the port", "netio/impair TestProxyOutlivesTheServer"},
	{"the machine kept the server from running each time; TestThreat07FloodFromClientsNetwork plays the " +
		"same in virtual time", "cmd/tickrate TestThreat07ForeignCrowdBesideFlood"},
	{"too few descriptors for a crowd", "cmd/tickrate newForeignCrowd floodRequests"},
	{"each step of a plan was void", "cmd/tickrate TestPlanCapturesFailedSteps"},
}

// No test outside the list skips in a full run.
func TestSkipsHaveAReason(t *testing.T) {
	allowed := map[string]bool{}
	for _, s := range skips {
		for group := range strings.SplitSeq(s.funcs, ";") {
			words := strings.Fields(group)
			for _, name := range words[1:] {
				allowed[words[0]+" "+name] = false
			}
		}
	}
	for _, s := range parsedTests(t) {
		for _, f := range functions(s) {
			for _, call := range skipCalls(f) {
				name := s.dir() + " " + f.Name.Name
				if _, ok := allowed[name]; !ok {
					t.Error(s.at(call.Pos(), "%s may skip: test it everywhere, or give its reason in checks_test.go", name))
				}
				allowed[name] = true
			}
		}
	}
	for name, used := range allowed {
		if !used {
			t.Errorf("checks_test.go: %s does not skip by now, or is gone: delete it", name)
		}
	}
}

// skipCalls returns the calls of Skip, Skipf and SkipNow in a function, apart from those that need
// no reason.
func skipCalls(f *ast.FuncDecl) (calls []*ast.CallExpr) {
	if strings.HasPrefix(f.Name.Name, "Fuzz") {
		return nil // they reject inputs
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if n, ok := n.(*ast.IfStmt); ok && mentions(n.Cond, "Short", "raceEnabled") {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == "t" {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}

// besideRepository is a path of files that are beside the repository of its authors, as one text or
// as arguments of filepath.Join.
var besideRepository = regexp.MustCompile(`shared(/|", ")(traces|vectors|spec)`)

// Nothing reads files from beside the repository, which no clone has: what is needed is derived from
// them in testdata.
func TestNothingDependsOnFilesBesideTheRepository(t *testing.T) {
	allowed := map[string]string{
		"netio/netcode/reference_session_test.go":    "-update derives testdata/reference from them",
		"netio/netcode/testdata/reference/README.md": "names the source",
		"bench/trace/people_test.go":                 "-update derives testdata from them",
		"bench/trace/testdata/README.md":             "names the source",
		"bench/codeceval/eval_test.go":               "-update derives testdata from them",
		"bench/codeceval/testdata/README.md":         "names the source",
		"sim/netstate/model.go":                      "go generate trains on them where they are",
	}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return cmp.Or(err, fs.SkipDir)
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".md", ".toml"}, path.Ext(name)) &&
			d.Name() != "Makefile" || name == "checks_test.go" {
			return nil
		}
		text, err := os.ReadFile(name)
		at := besideRepository.FindIndex(text)
		switch _, ok := allowed[name]; {
		case at != nil && !ok:
			t.Errorf("%s reads %s, which no clone has: keep what is derived from it in testdata", name, text[at[0]:at[1]])
		case at == nil && ok:
			t.Errorf("checks_test.go: %s names nothing beside the repository: delete it", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each test reaches a call that fails it, and no text is searched for an empty one.
func TestChecksCanFail(t *testing.T) {
	failing := []string{"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow", "panic", "Check", "VerifyTestMain"}
	searches := []string{"Contains", "ContainsAny", "HasPrefix", "HasSuffix", "Index", "LastIndex", "Count"}
	fails := map[string]map[string]bool{}     // by package: functions that reach a failing call
	calls := map[string]map[string][]string{} // and the names that their bodies have
	tests := parsedTests(t)
	for _, s := range tests {
		dir := s.dir() + " " + s.file.Name.Name
		if fails[dir] == nil {
			fails[dir], calls[dir] = map[string]bool{}, map[string][]string{}
		}
		for _, f := range functions(s) {
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					calls[dir][f.Name.Name] = append(calls[dir][f.Name.Name], id.Name)
					fails[dir][f.Name.Name] = fails[dir][f.Name.Name] || slices.Contains(failing, id.Name)
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				fun, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains(searches, fun.Sel.Name) {
					return true
				}
				for _, arg := range call.Args {
					if lit, ok := arg.(*ast.BasicLit); ok && (lit.Value == `""` || lit.Value == "``") {
						t.Error(s.at(call.Pos(), "every text has an empty one"))
					}
				}
				return true
			})
		}
	}
	for dir := range fails {
		for again := true; again; {
			again = false
			for f, all := range calls[dir] {
				if !fails[dir][f] && slices.ContainsFunc(all, func(c string) bool { return fails[dir][c] }) {
					fails[dir][f], again = true, true
				}
			}
		}
	}
	for _, s := range tests {
		for _, f := range functions(s) {
			dir := s.dir() + " " + s.file.Name.Name
			if n := f.Name.Name; (strings.HasPrefix(n, "Test") || strings.HasPrefix(n, "Fuzz")) && f.Recv == nil &&
				n != "TestMain" && !fails[dir][n] {
				t.Error(s.at(f.Pos(), "%s reaches nothing that fails it", n))
			}
		}
	}
}

// parsedTests are the test files of the repository.
func parsedTests(t *testing.T) (all []source) {
	t.Helper()
	tree, err := scan(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tree {
		if s.isTest() && !strings.Contains(s.dir(), "/testdata") {
			all = append(all, s)
		}
	}
	if len(all) < 100 {
		t.Fatalf("%d test files, expected more", len(all))
	}
	return all
}

// functions are those of a file that have a body.
func functions(s source) (all []*ast.FuncDecl) {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			all = append(all, f)
		}
	}
	return all
}

// mentions reports whether an expression has one of the names.
func mentions(e ast.Expr, names ...string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && slices.Contains(names, id.Name)
		return true
	})
	return found
}

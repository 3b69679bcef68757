package tickrate_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// layer is one row of the import table: a package and everything it may import beyond the standard
// library. Names are directories of this module, short names of outside modules (see outside), or
// above: every package of a row before it.
type layer struct {
	pkg   string // directory below the root
	may   string // what its code may import
	tests string // what its tests may import besides; testTools are open to all tests
	// file patterns that may touch sockets, goroutines, clocks and global randomness; none for
	// sans-I/O
	shell string
}

const above = "*above*"

// layers is the architecture. A package may import only from rows before its own, so the order is
// the proof that no import runs in a circle. At run time data does go round one:
//
//	socket -> packet -> command -> sim -> history -> snapshot -> compress -> packet -> socket
//
// Only server's tick joins the stations; a station that imports its neighbour's neighbour is a
// mistake this table finds.
var layers = []layer{
	// Vocabulary: these know nothing of each other.
	{pkg: "ecs/geom"},
	{pkg: "ecs/tick"},
	{pkg: "ecs/netid"},
	{pkg: "compress/bitio"},
	{pkg: "internal/meter"},
	{pkg: "internal/clock", may: "sys", shell: "*"},
	{pkg: "internal/hugepage", may: "sys", shell: "*"},
	{pkg: "internal/perfevent", may: "sys", shell: "*"}, // counters of the processor and the kernel
	{pkg: "internal/webplot"},
	{pkg: "internal/textlog", shell: "*"},   // records of a log as lines for people
	{pkg: "internal/wholefile", shell: "*"}, // files that are published whole
	{pkg: "internal/stage"},                 // names of the stages of a tick
	{pkg: "internal/footprint"},             // bytes of memory by owner
	{pkg: "internal/ratelimit"},             // the one token bucket
	{pkg: "internal/web", shell: "*"},       // the one HTTP server
	{pkg: "internal/ringbuf"},               // the one ring of newest items
	{pkg: "internal/prefetch"},              // memory ahead of its use
	{pkg: "internal/alloctest"},             // allocations of many calls, for tests
	// regions of execution traces, without garbage
	{pkg: "internal/traceregion"},
	{pkg: "lagcomp/internal/kernel", may: "sys"},
	// frozen, what a plan's tick is a multiple of: nothing of this module's transport
	{pkg: "bench/floor", may: "sys crypto", shell: "*"},
	{pkg: "bench/measure", may: "internal/stage", shell: "machine.go"},
	{pkg: "bench/slo", may: "bench/measure internal/meter expr"},
	{pkg: "bench/search", may: "bench/measure bench/slo"},

	// Bytes: sockets and packets never see the world.
	{pkg: "compress/huffman", may: "compress/bitio"},
	{pkg: "compress/rangecoder"},
	{pkg: "compress/dict", may: "klauspost"},
	{pkg: "netio", may: "internal/meter gnet sys", shell: "*"},
	{pkg: "netio/impair", may: "netio", shell: "proxy*.go"},
	{pkg: "netio/netcode", may: "internal/prefetch internal/ratelimit crypto", tests: "netio/impair"},
	{pkg: "netio/packet", may: "internal/prefetch"},
	// the one place where netcode meets a socket and a clock
	{pkg: "netio/session", may: "netio netio/netcode", shell: "*"},
	{pkg: "protocol", may: "netio/packet"},

	// The world and how it is told: rows of integers.
	{pkg: "ecs", may: "ecs/netid ecs/geom ecs/tick arche"},
	{pkg: "ecs/parallel", shell: "pool.go"},
	{pkg: "ecs/schema", may: "compress/bitio compress/dict compress/huffman"},
	{pkg: "ecs/schema/gen", may: "ecs/schema", shell: "run.go"}, // reads a package with the go command
	{pkg: "ecs/schema/gen/sample", may: "ecs/schema ecs/geom"},
	{pkg: "ecs/schema/gen/structgen", may: "ecs/schema/gen", shell: "*"},
	{pkg: "ecs/snapshot",
		may: "ecs/netid ecs/schema ecs/tick compress/bitio compress/dict compress/huffman " +
			"compress/rangecoder internal/prefetch"},
	{pkg: "ecs/interest", may: "ecs/netid"},

	// The match: commands in, motion and hits out. Lag compensation sees columns, never the world.
	{pkg: "sim/arena", may: "ecs/geom ecs/tick"},
	{pkg: "sim/move", may: "ecs/geom ecs/tick sim/arena vek"},
	{pkg: "sim/pvs", may: "ecs/geom sim/arena sim/move", tests: "ecs/netid ecs/tick ecs/interest"},
	{pkg: "sim/ability", may: "ecs/geom ecs/tick"},
	{pkg: "lagcomp/rig", may: "ecs/geom lagcomp/internal/kernel"},
	{pkg: "sim/anim", may: "ecs/geom ecs/tick sim/move lagcomp/rig"},
	{pkg: "lagcomp", may: "internal/ringbuf ecs/geom ecs/tick lagcomp/internal/kernel lagcomp/rig"},
	{pkg: "lagcomp/shotsvg", may: "ecs/geom ecs/tick lagcomp lagcomp/rig"},
	{pkg: "sim/object",
		may: "ecs/netid ecs/geom ecs/parallel ecs/tick lagcomp lagcomp/rig sim/arena sim/move"},
	{pkg: "sim/mode", may: "ecs/netid ecs/tick"},
	{pkg: "sim/content", may: "ecs/geom ecs/tick sim/arena sim/move sim/ability sim/object sim/mode toml"},
	{pkg: "sim/mapcheck", may: "ecs/geom ecs/tick sim/arena sim/move sim/pvs sim/content"},
	{pkg: "sim/mapcheck/mapsvg", may: "ecs/geom sim/arena sim/content sim/mapcheck", tests: "sim/move"},
	{pkg: "sim",
		may: "ecs ecs/netid ecs/geom ecs/parallel ecs/tick lagcomp lagcomp/rig sim/anim sim/move " +
			"sim/arena sim/ability sim/object sim/mode sim/content compress/bitio internal/prefetch arche"},
	// how players aim, of a match or of its recording
	{pkg: "sim/aim",
		may: "sim lagcomp ecs/netid ecs/geom ecs/tick", tests: "sim/arena sim/replay lagcomp/rig"},
	{pkg: "sim/replay",
		may:   "sim sim/arena lagcomp ecs/netid ecs/geom ecs/tick compress/dict",
		tests: "compress/rangecoder lagcomp/rig sim/mode sim/move"},
	{pkg: "sim/netstate",
		may: "sim sim/move sim/ability sim/object sim/mode sim/anim lagcomp/rig ecs/netid ecs/geom " +
			"ecs/tick ecs/schema ecs/snapshot compress/bitio",
		tests: "sim/arena"},

	// what a picture and sound present
	{pkg: "sim/effect",
		may: "sim sim/arena sim/content sim/netstate sim/object lagcomp lagcomp/rig ecs/netid ecs/geom " +
			"ecs/tick compress/bitio"},

	// Around the match: text and strangers, which see neither sockets nor the world.
	{pkg: "server/query", may: "internal/ratelimit"},
	{pkg: "server/local", shell: "*"}, // files of the servers of one machine
	{pkg: "server/console", may: "protocol"},
	{pkg: "server/chat", may: "internal/ratelimit confusables", tests: "protocol"},
	{pkg: "server/idle", may: "ecs/tick"},
	{pkg: "server/overload", may: "protocol"},
	{pkg: "server/metrics",
		may: "internal/meter internal/stage netio netio/netcode netio/packet ecs/snapshot ecs/tick sim " +
			"sim/effect " +
			"sim/netstate server/chat server/overload"},
	// the live page never sees the game: it gets plain numbers
	{pkg: "server/dash", may: "internal/webplot", shell: "*"},

	// The two ends. A client has bytes in and bytes out, never a socket; a lobby has batches.
	{pkg: "server", may: above + " vek", tests: "client bench/trace"},
	{pkg: "server/httpapi", may: above + " prometheus",
		tests: "client bench/lobbysim bench/lobbysim/simtest bench/swarm", shell: "*"},
	// the evidence of missed deadlines: it gets plain numbers
	{pkg: "server/host/capture",
		may:   "bench/slo ecs/tick internal/clock internal/traceregion internal/wholefile server/metrics",
		tests: "internal/textlog protobuf", shell: "*"},
	{pkg: "server/host", may: above + " sys", tests: "bench/lobbysim/simtest client", shell: "*"},
	{pkg: "client/clock", may: "internal/prefetch protocol ecs/tick"},
	{pkg: "client/predict",
		may: "internal/prefetch internal/ringbuf client/clock ecs/geom ecs/tick sim sim/ability sim/arena " +
			"sim/move sim/netstate"},
	{pkg: "client/interpolate",
		may:   "client/clock ecs/geom ecs/snapshot ecs/tick lagcomp lagcomp/rig sim/netstate",
		tests: "ecs/netid"},
	{pkg: "client/objects",
		may: "internal/ringbuf client/clock client/predict ecs/geom ecs/netid ecs/schema ecs/snapshot " +
			"ecs/tick sim sim/ability sim/arena sim/netstate sim/object"},
	{pkg: "client",
		may: "internal/prefetch internal/ringbuf internal/ratelimit client/clock client/predict " +
			"client/interpolate client/objects compress/dict ecs/netid ecs/geom ecs/snapshot ecs/tick lagcomp " +
			"lagcomp/rig netio/netcode netio/packet protocol sim sim/ability sim/arena sim/content " +
			"sim/effect sim/mode sim/netstate sim/object sim/replay",
		tests: "ecs/schema sim/move server netio"},

	// another game: netcode, packets and snapshots, and nothing of this one's
	{pkg: "examples/arena",
		may:   "ecs/geom ecs/netid ecs/schema ecs/snapshot ecs/tick netio/netcode netio/packet netio/session",
		shell: "*"},
	// what a front end is at least
	{pkg: "examples/bot", may: "client sim", shell: "*",
		tests: "server server/host server/httpapi netio/netcode sim/arena"},

	// Beyond one process: only these, measuring and commands know of NATS.
	{pkg: "fleet/bus", may: "nats", shell: "*"},
	{pkg: "fleet/agones", shell: "client.go address.go"},
	{pkg: "fleet/agones/fake", may: "fleet/agones", shell: "fake.go"},
	{pkg: "fleet/autoscale", shell: "webhook.go"},
	{pkg: "fleet/announce", may: "netio/netcode nats", tests: "fleet/bus", shell: "*"},
	{pkg: "fleet/handoff", may: "fleet/announce fleet/bus internal/meter protocol server/host server/httpapi nats klauspost", tests: "server",
		shell: "*"},
	{pkg: "fleet/director",
		may:   "fleet/announce fleet/bus internal/meter internal/web netio/netcode protocol server/httpapi nats",
		tests: "client server server/host sim/arena internal/textlog", shell: "*"},

	// Measuring.
	{pkg: "bench/trace", may: "ecs/geom"},
	{pkg: "bench/itr", may: "bench/trace"},
	{pkg: "bench/codeceval", may: "bench/itr compress/huffman ecs/netid ecs/schema ecs/snapshot ecs/tick",
		shell: "*"},
	{pkg: "bench/scenario", may: "netio/impair toml"},
	{pkg: "bench/swarm",
		may: "client netio netio/impair netio/packet internal/meter internal/clock bench/trace sim sim/arena " +
			"sim/mode sim/move sim/ability sim/content sim/netstate ecs/geom ecs/tick",
		tests: "server netio/netcode", shell: "*"},
	// a whole lobby in virtual time: no shell, though it borrows the swarm's brains
	{pkg: "bench/lobbysim",
		may: "server client netio netio/impair netio/netcode netio/packet protocol bench/swarm " +
			"sim/arena sim/netstate ecs/snapshot ecs/tick",
		tests: above + " klauspost"}, // rivals of the codecs
	{pkg: "bench/lobbysim/simtest", may: "bench/lobbysim server sim/arena", shell: "*"}, // for tests
	// bugs for the simulator to find: no other package imports it
	{pkg: "bench/dst/mutation", shell: "*"},
	{pkg: "bench/dst/mutation/overlay", may: "bench/dst/mutation", shell: "*"},
	// the same, with enemies, faults and invariants; it opens what the server seals
	{pkg: "bench/dst",
		may: "bench/lobbysim bench/swarm client ecs/netid ecs/geom ecs/schema ecs/tick " +
			"ecs/snapshot lagcomp " +
			"lagcomp/rig netio netio/impair sim/replay netio/netcode netio/packet protocol server " +
			"server/metrics sim sim/arena sim/netstate sim/move crypto",
		tests: "sim/content server/console internal/clock bench/dst/mutation"},
	{pkg: "bench/codeceval/rowtrace",
		may: "bench/lobbysim bench/itr bench/swarm client netio/impair ecs/snapshot server sim " +
			"sim/arena sim/netstate",
		tests: "compress/huffman bench/codeceval bench/trace ecs/netid ecs/schema ecs/tick"},
	{pkg: "bench/simbench",
		may: "bench/lobbysim bench/measure bench/scenario bench/swarm client ecs/schema ecs/tick " +
			"internal/hugepage internal/clock internal/perfevent netio netio/impair netio/netcode protocol " +
			"server server/host server/metrics sim sim/arena sim/content sim/netstate",
		shell: "*"},
	{pkg: "bench/gate",
		may:   "bench/measure bench/scenario bench/simbench internal/clock internal/perfevent perf server/metrics",
		shell: "slowdown.go play.go"},
	{pkg: "bench/report", may: "bench/measure bench/search bench/slo internal/stage internal/webplot internal/wholefile perf", shell: "*"},
	{pkg: "bench/runner",
		may: "bench/floor bench/measure bench/report bench/scenario bench/search bench/simbench bench/slo " +
			"bench/swarm ecs/tick internal/stage internal/hugepage internal/meter internal/clock internal/perfevent netio/impair " +
			"netio/netcode protocol server server/httpapi server/metrics sim/content sim/netstate",
		tests: "client", shell: "*"},
	// the machines' decisions are no shell: these files have the bus, the clock and the swarm
	{pkg: "bench/agent",
		may: "bench/measure bench/runner bench/scenario bench/simbench bench/swarm ecs/tick fleet/bus " +
			"internal/clock internal/meter netio/netcode protocol server/httpapi nats",
		tests: "server server/host sim/arena",
		shell: "serve.go play.go pool.go load.go remote.go seal.go"},
	{pkg: "bench", may: "perf", tests: above, shell: "*"},
	{pkg: "bench/benchreport", may: "bench", shell: "*"}, // a tool

	// Commands: flags in cmd/tickrate, what several of them need in cmd/internal.
	{pkg: "cmd/internal/usage", may: "cobra"},
	{pkg: "cmd/internal/assets",
		may: "cmd/internal/usage bench/swarm bench/trace protocol sim sim/arena sim/content " +
			"sim/netstate cobra",
		shell: "*"},
	{pkg: "cmd/internal/serverapi", may: "cmd/internal/usage server/dash", shell: "*"},
	{pkg: "cmd/internal/preview", may: above, shell: "*"},
	{pkg: "cmd/internal/playback", may: above, shell: "*"},
	{pkg: "cmd/internal/inspect", may: above, shell: "*"},
	// its tests have a client of somebody else's
	{pkg: "cmd/tickrate", may: above + " cobra pflag term toml", tests: "crypto", shell: "*"},
	{pkg: "deploy/dist", shell: "*"},            // a tool
	{pkg: "deploy", tests: "fleet/agones yaml"}, // manifests
	{pkg: "e2e", tests: above + " chromedp"},    // pages in a browser; a module of its own
	// other games' servers beside ours; a module of its own, that speaks their protocols
	{pkg: "peers/crowd", shell: "*"},
	{pkg: "peers/quake3", may: "peers/crowd"},
	{pkg: "peers/ddnet", may: "peers/crowd"},
	{pkg: "peers", may: "bench/measure internal/clock peers/crowd peers/ddnet peers/quake3", shell: "*"},
	{pkg: ".", tests: above}, // documentation, this file, and examples that span stations
}

// outside names the modules of others. A row that lists one of them is its home; it goes nowhere
// else.
var outside = map[string]string{
	"arche":       "github.com/mlange-42/arche",
	"chromedp":    "github.com/chromedp",
	"cmp":         "github.com/google/go-cmp",
	"cobra":       "github.com/spf13/cobra",
	"confusables": "github.com/mtibben/confusables",
	"crypto":      "golang.org/x/crypto",
	"expr":        "github.com/expr-lang/expr",
	"gnet":        "github.com/panjf2000/gnet/v2",
	"goleak":      "go.uber.org/goleak",
	"klauspost":   "github.com/klauspost/compress",
	"nats":        "github.com/nats-io",
	"perf":        "golang.org/x/perf",
	"pflag":       "github.com/spf13/pflag",
	"prometheus":  "github.com/prometheus",
	"protobuf":    "google.golang.org/protobuf",
	"rapid":       "pgregory.net/rapid",
	"sys":         "golang.org/x/sys",
	"toml":        "github.com/pelletier/go-toml/v2",
	"term":        "golang.org/x/term",
	"vek":         "github.com/viterin/vek",
	"yaml":        "go.yaml.in/yaml/v3",
}

// testTools are what any test may import and no other code.
var testTools = []string{"cmp", "goleak", "rapid", "internal/alloctest"}

// drawers are names under which things get lost.
var drawers = []string{"base", "common", "helper", "helpers", "lib", "misc", "pkg", "shared", "util", "utils"}

func TestLayers(t *testing.T) {
	tree, err := scan(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range check(tree, layers) {
		t.Error(v)
	}
}

// The table itself must be an order: whoever is named stands above.
func TestLayersTable(t *testing.T) {
	var seen []string
	for _, row := range layers {
		if slices.Contains(seen, row.pkg) {
			t.Errorf("%s has two rows", row.pkg)
		}
		for _, name := range strings.Fields(row.may) {
			if name != above && outside[name] == "" && !slices.Contains(seen, name) {
				t.Errorf("%s may import %s, which is neither a row above it nor an outside module",
					row.pkg, name)
			}
			if slices.Contains(testTools, name) {
				t.Errorf("%s may import %s, which is for tests", row.pkg, name)
			}
		}
		for _, name := range strings.Fields(row.tests) {
			known := slices.ContainsFunc(layers, func(l layer) bool { return l.pkg == name })
			if name != above && outside[name] == "" && !known {
				t.Errorf("tests of %s may import %s, which is neither a row nor an outside module",
					row.pkg, name)
			}
		}
		seen = append(seen, row.pkg)
	}
}

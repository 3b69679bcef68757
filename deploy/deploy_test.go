package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tickrate/tickrate/fleet/agones"
)

// fields are the names that a manifest may have, by the path of the object that has them; * stands for
// any name, and numbers of lists are left out. Those of Agones are of its version 1.60.
var fields = map[string]string{
	"Fleet":                                       "apiVersion kind metadata spec",
	"Fleet.metadata":                              "name labels annotations",
	"Fleet.spec":                                  "replicas scheduling strategy allocationOverflow template",
	"Fleet.spec.strategy":                         "type rollingUpdate",
	"Fleet.spec.allocationOverflow":               "labels annotations",
	"Fleet.spec.allocationOverflow.labels":        "*",
	"Fleet.spec.template":                         "metadata spec",
	"Fleet.spec.template.spec":                    "container ports health sdkServer players counters lists eviction template",
	"Fleet.spec.template.spec.ports":              "name portPolicy containerPort hostPort protocol container range",
	"Fleet.spec.template.spec.health":             "disabled initialDelaySeconds periodSeconds failureThreshold",
	"Fleet.spec.template.spec.counters":           "rooms",
	"Fleet.spec.template.spec.counters.rooms":     "count capacity",
	"Fleet.spec.template.spec.lists":              "players",
	"Fleet.spec.template.spec.lists.players":      "capacity values",
	"Fleet.spec.template.spec.eviction":           "safe",
	"Fleet.spec.template.spec.template":           "metadata spec", // of a pod: not held here
	"FleetAutoscaler":                             "apiVersion kind metadata spec",
	"FleetAutoscaler.metadata":                    "name labels annotations",
	"FleetAutoscaler.spec":                        "fleetName policy sync",
	"FleetAutoscaler.spec.policy":                 "type buffer webhook counter list schedule chain wasm",
	"FleetAutoscaler.spec.policy.webhook":         "service url caBundle",
	"FleetAutoscaler.spec.policy.webhook.service": "name namespace path port",
	"FleetAutoscaler.spec.sync":                   "type fixedInterval",
	"FleetAutoscaler.spec.sync.fixedInterval":     "seconds",
	"Service":                      "apiVersion kind metadata spec",
	"Service.metadata":             "name labels annotations",
	"Service.metadata.labels":      "*",
	"Service.metadata.annotations": "*",
	"Service.spec":                 "clusterIP selector ports type",
	"Service.spec.selector":        "*",
	"Service.spec.ports":           "name port targetPort protocol",
}

// walk reports names that are not in fields.
func walk(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			walk(t, path, x)
		}
	case map[string]any:
		known := strings.Fields(fields[path])
		for name, x := range v {
			if !slices.Contains(known, name) && !slices.Contains(known, "*") {
				t.Errorf("%s has %q: expected %s", path, name, fields[path])
			}
			if path != "Fleet.spec.template.spec.template" {
				walk(t, path+"."+name, x)
			}
		}
	}
}

// at returns what is at a path of names.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// manifest reads a file of one object.
func manifest(t *testing.T, name string) (v map[string]any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("agones", name))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("%s: more than one object: %v", name, err)
	}
	return v
}

// The manifests have names that Agones and Kubernetes know, and agree with each other and the server.
func TestManifests(t *testing.T) {
	for file, want := range map[string][2]string{"fleet.yaml": {"agones.dev/v1", "Fleet"},
		"autoscaler.yaml": {"autoscaling.agones.dev/v1", "FleetAutoscaler"}, "metrics.yaml": {"v1", "Service"}} {
		m := manifest(t, file)
		if m["apiVersion"] != want[0] || m["kind"] != want[1] {
			t.Errorf("%s: %v %v, want %v", file, m["apiVersion"], m["kind"], want)
		}
		walk(t, want[1], m)
	}
	fleet, scaler, service := manifest(t, "fleet.yaml"), manifest(t, "autoscaler.yaml"), manifest(t, "metrics.yaml")
	server := at(fleet, "spec", "template", "spec")
	pod := at(server, "template", "spec")
	container := at(pod, "containers").([]any)[0]
	args := at(container, "args").([]any)
	_, most, _ := strings.Cut(args[slices.Index(args, any("--lobbies"))+1].(string), ":")
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"label of the overflow", at(fleet, "spec", "allocationOverflow", "labels", agones.DrainLabel), "true"},
		{"capacity of rooms", at(server, "counters", agones.CounterRooms, "capacity"), 50},
		{"capacity of players", at(server, "lists", agones.ListPlayers, "capacity"), 500},
		{"--lobbies", most, "50"},
		{"eviction", at(server, "eviction", "safe"), "OnUpgrade"},
		{"grace", at(pod, "terminationGracePeriodSeconds"), 3600},
		{"file system", at(container, "securityContext", "readOnlyRootFilesystem"), true},
		{"user", at(pod, "securityContext", "runAsNonRoot"), true},
		{"fleet of the autoscaler", at(scaler, "spec", "fleetName"), at(fleet, "metadata", "name")},
		{"policy", at(scaler, "spec", "policy", "type"), "Webhook"},
		{"selector", at(service, "spec", "selector", "app"), at(server, "template", "metadata", "labels", "app")},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// systemd takes the unit, where it is installed.
func TestUnit(t *testing.T) {
	b, err := os.ReadFile("tickrate.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivileges=yes", "ProtectSystem=strict", "DynamicUser=yes", "--drain-for 10m",
		"TimeoutStopSec=11min"} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("the unit has no %s", want)
		}
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: its own check is left out")
	}
	unit := filepath.Join(t.TempDir(), "tickrate.service")
	b = bytes.ReplaceAll(b, []byte("/usr/local/bin/tickrate"), []byte("/bin/true"))
	if err := os.WriteFile(unit, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", "--man=no", unit).CombinedOutput(); err != nil ||
		bytes.Contains(out, []byte(unit)) {
		t.Errorf("%v: %s", err, out)
	}
}

// Two builds of the same source at different places are the same bytes.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command twice")
	}
	other := t.TempDir()
	if err := copySource(os.DirFS(".."), other); err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, dir := range []string{"..", other} {
		out := t.TempDir()
		c := exec.Command("go", "run", "./deploy/dist", "-version", "v0.0.0-test", "-out", out,
			"-targets", runtime.GOOS+"/"+runtime.GOARCH)
		c.Dir = dir
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		b, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(b))
		checkBill(t, out)
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 2 {
		t.Errorf("first:\n%ssecond:\n%s", sums[0], sums[1])
	}
}

// checkBill holds the bill of materials against go.mod.
func checkBill(t *testing.T, out string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(out, "*.cdx.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(b, &bill); err != nil || bill.BOMFormat != "CycloneDX" {
		t.Fatalf("%v: %.200s", err, b)
	}
	found := 0
	for _, c := range bill.Components {
		if c.Name == "github.com/nats-io/nats.go" || c.Name == "github.com/mlange-42/arche" || c.Name == "std" {
			found++
		}
		if c.Version == "" || c.PURL != "pkg:golang/"+c.Name+"@"+c.Version {
			t.Errorf("%+v", c)
		}
	}
	if found != 3 {
		t.Errorf("%d of 3 known modules in %.300s", found, b)
	}
}

// copySource copies a tree without what builds and git have made.
func copySource(from fs.FS, to string) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || name == "bin" || name == "report" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o644)
	})
}

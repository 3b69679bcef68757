package deploy_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// instruction returns the arguments of the only instruction of that name in a stage of a Dockerfile.
func instruction(t *testing.T, stage, name string) string {
	t.Helper()
	stage = strings.ReplaceAll(stage, "\\\n", "")
	found := regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllStringSubmatch(stage, -1)
	if len(found) != 1 {
		t.Fatalf("%d instructions %s, expected one", len(found), name)
	}
	return found[0][1]
}

// words reads the JSON array at the end of an instruction.
func words(t *testing.T, text string) (all []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text[max(0, strings.Index(text, "[")):]), &all); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return all
}

// The image's instructions are carried out without a container: its build makes a binary without a
// loader, its command serves in an empty folder, its health check finds the server and fails
// without one, its stop signal ends it, and the default ports are exposed.
func TestDockerfile(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds the command, on Linux")
	}
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	build, image, _ := strings.Cut(string(text), "\nFROM scratch\n")
	if version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)[1]; instruction(t, build,
		"FROM") != "golang:"+string(version)+" AS build" {
		t.Errorf("the build is by %s, expected Go %s of go.mod", instruction(t, build, "FROM"), version)
	}
	if user := instruction(t, image, "USER"); !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("the image runs as %s, expected numbers that are not root's", user)
	}
	out := t.TempDir()
	_, run, _ := strings.Cut(build, "\nRUN CGO_ENABLED")
	if run == "" {
		t.Fatal("the build has no RUN CGO_ENABLED")
	}
	c := exec.Command("sh", "-c", strings.ReplaceAll("CGO_ENABLED"+run, "/out/", out+"/"))
	c.Dir, c.Env = "..", append(os.Environ(), "VERSION=v0-image")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	binary := filepath.Join(out, "tickrate")
	linked, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer linked.Close()
	if slices.ContainsFunc(linked.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the binary needs a loader, and the image has none")
	}
	if volume := instruction(t, image, "VOLUME"); volume != instruction(t, image, "WORKDIR") {
		t.Errorf("the volume is %s, and the server works in %s", volume, instruction(t, image, "WORKDIR"))
	}
	serveImage(t, image, binary, tree(t, image, out))
}

// tree makes the file tree of the image of what its stages copy. out has the build's /out.
func tree(t *testing.T, image, out string) (root string) {
	t.Helper()
	root = t.TempDir()
	from := strings.NewReplacer("/out/", out+"/", "/src/", "../")
	for _, m := range regexp.MustCompile(`(?m)^COPY --from=build (?:--chown=(\d+):(\d+) )?(.*)$`).FindAllStringSubmatch(image, -1) {
		fields := strings.Fields(m[3])
		to := filepath.Join(root, fields[len(fields)-1])
		for _, f := range fields[:len(fields)-1] {
			// As COPY does, the content of a folder goes into the destination.
			c := exec.Command("cp", "-r", from.Replace(f), to)
			if b, err := c.CombinedOutput(); err != nil {
				t.Fatalf("COPY %s: %v: %s", m[3], err, b)
			}
		}
		uid, _ := strconv.Atoi(m[1])
		gid, _ := strconv.Atoi(m[2])
		if err := os.Chown(to, uid, gid); err != nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// inImage is a command that runs an image's binary as its user, in its folder, with its file tree as the
// root that nobody can write to but for the volume. Without the right to mount it is the binary alone.
func inImage(t *testing.T, image, binary, root string, args []string) *exec.Cmd {
	t.Helper()
	if exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Log("left out: the image's file tree, as mounts are not allowed here")
		c := exec.Command(binary, args...)
		c.Dir = t.TempDir()
		return c
	}
	uid, gid, _ := strings.Cut(instruction(t, image, "USER"), ":")
	const script = `mount --bind "$1" "$1" && mount --bind "$1$2" "$1$2" && mount -o remount,bind,ro "$1" || exit 1
		root=$1 dir=$2 uid=$3 gid=$4; shift 4
		exec unshare --root="$root" --wd="$dir" --setuid "$uid" --setgid "$gid" /tickrate "$@"`
	return exec.Command("unshare", append([]string{"--mount", "sh", "-c", script, "sh", root,
		instruction(t, image, "WORKDIR"), uid, gid}, args...)...)
}

// serveImage runs the image's command with its query port replaced by a free one, and the other
// ports left to the system.
func serveImage(t *testing.T, image, binary, root string) {
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.LocalAddr().String())
	free.Close()
	const query = "7915"
	replace := func(args []string) []string {
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], query, port)
		}
		return args
	}
	if entry := words(t, instruction(t, image, "ENTRYPOINT")); !slices.Equal(entry, []string{"/tickrate"}) {
		t.Errorf("the image starts %s", entry)
	}
	health := replace(words(t, instruction(t, image, "HEALTHCHECK")))
	healthy := func() bool { return exec.Command(binary, health[1:]...).Run() == nil }
	if health[0] != "/tickrate" || healthy() {
		t.Errorf("the health check %s succeeds without a server", health)
	}
	command := replace(words(t, instruction(t, image, "CMD")))
	if !slices.Contains(command, ":7914") {
		t.Errorf("the image's command %s leaves its HTTP port to loopback, which nobody reaches", command)
	}
	serve := inImage(t, image, binary, root, append(command, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--public-addr", "203.0.113.5:7913", "--ready"))
	var errs bytes.Buffer
	serve.Stderr = &errs
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Kill(); _ = serve.Wait() }() // ended already unless the test failed
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v: %s", line, err, &errs)
	}
	found := healthy()
	for try := 0; !found && try < 20; try++ { // each takes seconds without an answer
		time.Sleep(100 * time.Millisecond)
		found = healthy()
	}
	if !found {
		t.Errorf("the health check %s does not find the server", health)
	}
	signals := map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": os.Interrupt}
	stop := signals[instruction(t, image, "STOPSIGNAL")]
	if stop == nil {
		t.Fatalf("stop signal %s: expected one of %v", instruction(t, image, "STOPSIGNAL"), signals)
	}
	if err := serve.Process.Signal(stop); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("%v: %v\n%s", stop, err, &errs)
	}
	if serve.Dir == "" {
		if kept, _ := os.ReadDir(filepath.Join(root, instruction(t, image, "WORKDIR"))); len(kept) == 0 {
			t.Error("the server wrote no key to its volume")
		}
	}
	defaults, err := exec.Command(binary, "serve", "config").Output()
	if err != nil {
		t.Fatal(err)
	}
	exposed := instruction(t, image, "EXPOSE")
	ports := regexp.MustCompile(`(?m)^listen = ".*:(\d+)"`).FindAllSubmatch(defaults, -1)
	if len(ports) != 2 {
		t.Errorf("serve config has %d addresses to listen at, expected those of players and of HTTP", len(ports))
	}
	for _, m := range ports {
		if !regexp.MustCompile(`\b` + string(m[1]) + `/(udp|tcp)\b`).MatchString(exposed) {
			t.Errorf("EXPOSE %s lacks the default port %s", exposed, m[1])
		}
	}
	if !strings.Contains(exposed, query+"/udp") {
		t.Errorf("EXPOSE %s lacks the query port %s", exposed, query)
	}
}

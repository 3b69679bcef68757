package lobbysim

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// touchedLines makes TestTouched count cache lines.
var touchedLines = flag.Bool("touched", false, "count the cache lines that a tick touches (ptrace, objdump)")

// touchedChild is the environment variable of the process that is traced.
const touchedChild = "TICKRATE_TOUCHED"

const (
	cacheLine    = 64
	touchedWarm  = 3 * 128 // ticks before the first that is traced
	touchedTicks = 2       // an even number: half of the ticks send to a client
)

// TestTouched prints the cache lines of its own that a tick of a duel touches, by owner, and by type
// and field. It steps another process through the ticks, and has objdump name the operands:
//
//	go test ./bench/lobbysim -run Touched -touched -v
//
// What is elsewhere is stack, globals and the runtime. Gathers and the pushes of calls do not count.
func TestTouched(t *testing.T) {
	if os.Getenv(touchedChild) != "" {
		playTouched(t)
		return
	}
	if !*touchedLines {
		t.Skip("without -touched")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^TestTouched$")
	c.Env = append(os.Environ(), touchedChild+"=1", "GODEBUG=asyncpreemptoff=1")
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	s := bufio.NewScanner(stdout)
	var places []place
	for s.Scan() {
		var thread int
		if n, _ := fmt.Sscanf(s.Text(), "thread %d", &thread); n == 1 {
			ticks := stepTicks(t, thread, func() { stdin.Close() })
			t.Log(touchedTable(operandsOf(t, self, ticks), ticks, places))
			return
		}
		places = appendPlace(places, s.Text())
	}
	t.Fatal("the traced process ended early")
}

// playTouched plays the duel in the traced process, and prints where its memory is.
func playTouched(t *testing.T) {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	r := recordLobby(t, duel(), touchedWarm+touchedTicks)
	l := r.replay(t)
	for k := range touchedWarm {
		l.play(t, &r.ticks[k])
	}
	printRegions(l)
	fmt.Printf("thread %d\n", syscall.Gettid())
	_, _ = syscall.Read(0, make([]byte, 1)) // until the tracer is there
	for k := range touchedTicks {
		runtime.Breakpoint()
		l.play(t, &r.ticks[touchedWarm+k])
	}
	runtime.Breakpoint()
}

// stepTicks steps a thread from one breakpoint to the next, and returns its registers before each
// instruction, by tick. begin lets the thread run to the first one.
func stepTicks(t *testing.T, thread int, begin func()) (ticks [][]syscall.PtraceRegs) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	wait := func() (sig syscall.Signal) {
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(thread, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() {
			t.Fatalf("wait: %v, status %#x", err, ws)
		}
		return ws.StopSignal()
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(syscall.PtraceAttach(thread))
	wait()
	begin()
	check(syscall.PtraceCont(thread, 0))
	for sig := wait(); sig != syscall.SIGTRAP; sig = wait() {
		check(syscall.PtraceCont(thread, int(sig)))
	}
	var regs syscall.PtraceRegs
	check(syscall.PtraceGetRegs(thread, &regs))
	breakpoint := regs.Rip // after its instruction
	for range touchedTicks {
		var steps []syscall.PtraceRegs
		for {
			if n := len(steps); n == 0 || steps[n-1].Rip != regs.Rip { // else a string goes on
				steps = append(steps, regs)
			}
			check(syscall.PtraceSingleStep(thread))
			for sig := wait(); sig != syscall.SIGTRAP; sig = wait() {
				check(syscall.PtraceSingleStep(thread)) // the signal has to wait
			}
			check(syscall.PtraceGetRegs(thread, &regs))
			if regs.Rip == breakpoint {
				break
			}
		}
		ticks = append(ticks, steps)
	}
	return ticks
}

// operand is memory that an instruction names.
type operand struct {
	base, index string // registers; "": none
	scale, disp uint64
	size        uint64
	repeat      bool // rcx times
}

// memoryOperand is an operand as objdump writes it.
var memoryOperand = regexp.MustCompile(
	`(BYTE|[A-Z]*WORD|TBYTE|FWORD) (?:PTR|BCST) (?:[ed]s:)?\[([^\]]+)\]`)

var operandSizes = map[string]uint64{"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "TBYTE": 10, "FWORD": 6,
	"XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}

// operandsOf has objdump name the operands of the instructions that ticks have, by address.
func operandsOf(t *testing.T, program string, ticks [][]syscall.PtraceRegs) map[uint64][]operand {
	operands := map[uint64][]operand{}
	for _, steps := range ticks {
		for i := range steps {
			operands[steps[i].Rip] = nil
		}
	}
	c := exec.Command("objdump", "-d", "-w", "-M", "intel", "--no-show-raw-insn", program)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		at, text, _ := strings.Cut(s.Text(), ":")
		pc, err := strconv.ParseUint(strings.TrimSpace(at), 16, 64)
		if err != nil {
			continue
		}
		mnemonic, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if _, ran := operands[pc]; !ran || mnemonic == "lea" || strings.HasPrefix(mnemonic, "nop") {
			continue
		}
		for _, m := range memoryOperand.FindAllStringSubmatch(text, -1) {
			o := parseOperand(m[2])
			o.size, o.repeat = operandSizes[m[1]], strings.HasPrefix(mnemonic, "rep")
			operands[pc] = append(operands[pc], o)
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	return operands
}

// parseOperand reads base+index*scale+disp.
func parseOperand(text string) (o operand) {
	for term := range strings.SplitSeq(strings.ReplaceAll(text, "-", "+-"), "+") {
		register, scale, scaled := strings.Cut(term, "*")
		if n, err := strconv.ParseInt(term, 0, 64); err == nil {
			o.disp += uint64(n)
		} else if u, err := strconv.ParseUint(term, 0, 64); err == nil {
			o.disp += u
		} else if scaled {
			o.index = register
			o.scale, _ = strconv.ParseUint(scale, 0, 64)
		} else {
			o.base = term
		}
	}
	return o
}

// address returns where the operand is; ok is false for a vector of addresses.
func (o *operand) address(r *syscall.PtraceRegs) (at uintptr, ok bool) {
	base, ok := register(r, o.base)
	index, ok2 := register(r, o.index)
	return uintptr(base + index*o.scale + o.disp), ok && ok2
}

// register returns what a register holds, of those that a scalar address has.
func register(r *syscall.PtraceRegs, name string) (value uint64, ok bool) {
	if name == "" {
		return 0, true
	}
	at, ok := registers[name]
	if !ok {
		return 0, false
	}
	return *(*uint64)(unsafe.Add(unsafe.Pointer(r), at)), true
}

// registers is where PtraceRegs has them.
var registers = func() map[string]uintptr {
	at := map[string]uintptr{}
	of := reflect.TypeFor[syscall.PtraceRegs]()
	for i := range of.NumField() {
		at[strings.ToLower(of.Field(i).Name)] = of.Field(i).Offset
	}
	return at
}()

// printRegions prints a line for each part of the lobby's memory: begin, end, owner, type and field.
func printRegions(l *replayedLobby) {
	owners := l.Memory()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, r := range l.MemoryRegions() {
		owner := cmp.Or(owners[r.Owner].Path, "lobby")
		if r.Of == nil || r.Of.Size() == 0 {
			fmt.Fprintf(out, "%x %x %s %v\n", r.Start, r.End, owner, r.Of)
			continue
		}
		for at := r.Start; at < r.End; at += r.Of.Size() {
			printFields(out, at, owner+" "+strings.ReplaceAll(r.Of.String(), " ", "_"), r.Of)
			if r.Of.Kind() != reflect.Struct {
				fmt.Fprintf(out, "%x %x %s %v\n", r.Start, r.End, owner, r.Of)
				break
			}
		}
	}
}

// printFields prints the fields of a struct, and those of a field that is longer than a line.
func printFields(out *bufio.Writer, at uintptr, name string, of reflect.Type) {
	if of.Kind() != reflect.Struct || of.Size() <= cacheLine {
		fmt.Fprintf(out, "%x %x %s\n", at, at+of.Size(), name)
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		printFields(out, at+f.Offset, name+"."+f.Name, f.Type)
	}
}

// lineSet is cache lines, by address.
type lineSet map[uintptr]struct{}

func (s lineSet) add(at, size uintptr) {
	for line := at / cacheLine; line <= (at+size-1)/cacheLine; line++ {
		s[line*cacheLine] = struct{}{}
	}
}

// place is memory of a lobby, with its name.
type place struct {
	start, end uintptr
	name       string
}

// appendPlace appends what a line of printRegions says.
func appendPlace(places []place, line string) []place {
	f := strings.Fields(line)
	if len(f) < 3 {
		return places
	}
	start, err := strconv.ParseUint(f[0], 16, 64)
	end, err2 := strconv.ParseUint(f[1], 16, 64)
	if err != nil || err2 != nil {
		return places
	}
	return append(places, place{uintptr(start), uintptr(end), strings.Join(f[2:], " ")})
}

// touchedTable counts the lines that ticks touch, by owner and then by field, on average of a tick.
func touchedTable(operands map[uint64][]operand, ticks [][]syscall.PtraceRegs, places []place) string {
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	count := map[string]int{}
	for _, steps := range ticks {
		count["instructions"] += len(steps)
		for name, lines := range linesOf(operands, steps, places) {
			count[name] += len(lines)
		}
	}
	var b strings.Builder
	b.WriteString("lines of a tick\n")
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%9.1f %s\n", float64(count[name])/float64(len(ticks)), name)
	}
	return b.String()
}

// linesOf returns the lines that a tick touches, by name.
func linesOf(operands map[uint64][]operand, steps []syscall.PtraceRegs, places []place) map[string]lineSet {
	words, code := lineSet{}, lineSet{}
	for i := range steps {
		r := &steps[i]
		code.add(uintptr(r.Rip), 1)
		for _, o := range operands[r.Rip] {
			at, ok := o.address(r)
			size := o.size
			if o.repeat {
				size *= r.Rcx
			}
			for word := at &^ 7; ok && word < at+uintptr(size); word += 8 {
				words[word] = struct{}{}
			}
		}
	}
	byName := map[string]lineSet{"code": code}
	note := func(name string, at uintptr) {
		if byName[name] == nil {
			byName[name] = lineSet{}
		}
		byName[name].add(at, 1)
	}
	for at := range words {
		name := placeOf(places, at)
		owner, _, _ := strings.Cut(name, " ")
		if owner != name {
			note(name, at)
		}
		switch {
		case strings.HasPrefix(owner, "port"):
			note("of its port", at)
		case owner != "cfg" && owner != "elsewhere":
			note("of its own", at)
		}
		note(owner, at)
	}
	return byName
}

// placeOf names the place of an address.
func placeOf(places []place, at uintptr) string {
	i, _ := slices.BinarySearchFunc(places, at+8, func(p place, at uintptr) int {
		return cmp.Compare(p.start, at)
	})
	for i--; i >= 0 && i < len(places); i-- {
		if at < places[i].end {
			return places[i].name
		}
		if places[i].start+cacheLine < at {
			break
		}
	}
	return "elsewhere"
}

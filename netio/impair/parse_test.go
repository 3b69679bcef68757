package impair

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The named profiles are pinned.
func TestNamedProfilesArePinned(t *testing.T) {
	want := []struct{ name, text string }{
		{"clean", "clean"},
		{"wifi", "loss=2%,delay=5ms,jitter=10ms"},
		{"mobile", "loss=5%,delay=80ms,jitter=30ms,duplicate=1%,reorder=2%,corrupt=0.1%"},
		{"bad", "loss=15%,delay=150ms,jitter=60ms"},
		{"hell",
			"loss=25%,burst=0.75%,burst-length=10,burst-max=500ms,jitter=80ms," +
				"duplicate=10%,reorder=20%,corrupt=5%"},
	}
	got := Presets()
	if len(got) != len(want) {
		t.Fatalf("%d profiles, want %d", len(got), len(want))
	}
	for i, n := range got {
		if n.Name != want[i].name || n.Profile.String() != want[i].text || n.About == "" {
			t.Errorf("%s is %s, want %s: %s", n.Name, n.Profile, want[i].name, want[i].text)
		}
		for _, text := range []string{n.Name, n.Profile.String()} {
			if p, err := ParseProfile(text); err != nil || p != n.Profile {
				t.Errorf("%q reads as %v, %v", text, p, err)
			}
		}
	}
}

func TestParseProfile(t *testing.T) {
	for text, want := range map[string]Profile{
		"loss=5%,delay=40ms,jitter=10ms": {Loss: 0.05, Delay: 40 * ms, Jitter: 10 * ms},
		" loss=0.05, dup=1 ":             {Loss: 0.05, Duplicate: 1},
		"clean,loss=7%":                  {Loss: 0.07},
		"wifi,delay=1s":                  {Loss: 0.02, Delay: time.Second, Jitter: 10 * ms},
		"rate=1Mbit,queue=1.5MB":         {Rate: 125_000, Queue: 1_500_000},
		"rate=64kbit":                    {Rate: 8_000}, // as tc counts
		"rate=64kB,queue=3000B":          {Rate: 64_000, Queue: 3000},
		"rate=1.5Gbit":                   {Rate: 187_500_000},
		"rate=64000bit":                  {Rate: 8_000},
		"burst=1%,burst-length=2.5":      {Burst: 0.01, BurstLength: 2.5},
		"blackhole=3s,rebind=10s":        {Blackhole: 3 * time.Second, Rebind: 10 * time.Second},
		"corrupt-bytes=1%,truncate=2%":   {CorruptBytes: 0.01, Truncate: 0.02},
		"blackhole=1m,blackhole-every=1h,reorder=1%,reorder-by=200ms": {
			Blackhole: time.Minute, BlackholeEvery: time.Hour, Reorder: 0.01, ReorderBy: 200 * ms},
	} {
		if got, err := ParseProfile(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestParseProfileSaysWhatIsWrong(t *testing.T) {
	for text, word := range map[string]string{
		"":                          "want clean, wifi, mobile, bad, hell, or settings",
		"mobil":                     `nothing is named "mobil"; want clean`,
		"loss":                      `nothing is named "loss"`,
		"lost=5%":                   `no setting is named "lost"; there are loss, burst`,
		"loss=5":                    "did you mean 5%?",
		"loss=five":                 "such as 5% or 0.05",
		"loss=105%":                 "share from 0 to 1",
		"loss=-1%":                  "share from 0 to 1",
		"loss=NaN":                  "share from 0 to 1",
		"loss=5%,loss=6%":           "loss is set twice",
		"dup=5%,duplicate=6%":       "duplicate is set twice",
		"delay=40":                  "a time with its unit",
		"delay=2m":                  "want 0 to 1m",
		"delay=-1s":                 "want 0 to 1m",
		"rate=7kbit":                "rate is 7kbit, want 8kbit to 80Gbit",
		"rate=64k":                  "want bits a second with their unit, such as 512kbit",
		"rate=64000":                "want bits a second with their unit",
		"rate=64kb":                 "want bits a second with their unit",
		"rate=kbit":                 "want bits a second with their unit",
		"rate=NaNbit":               "want bits a second with their unit",
		"rate=-1kB":                 "want bits a second with their unit",
		"rate=1e6MB":                "want 8kbit to 80Gbit",
		"rate=1MB,queue=10k":        "want bytes with their unit, such as 1500B",
		"queue=10kB":                "queue does nothing without rate",
		"burst-length=10":           "burst-length does nothing without burst",
		"burst=1%,burst-length=x":   "want a number of datagrams",
		"burst=1%,burst-length=0.1": "mean of 1 to 1e+06",
		"delay=1ms,mobile":          "mobile must come first",
		"loss=5%,":                  `nothing is named ""`,
	} {
		p, err := ParseProfile(text)
		if err == nil || !strings.Contains(err.Error(), word) || p != (Profile{}) {
			t.Errorf("%q: %+v, %v, want an error with %q", text, p, err, word)
		}
		if err != nil && strings.Count(err.Error(), "impair:") != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Every field can be set, printed and read back.
func TestEveryFieldIsAParameter(t *testing.T) {
	if fields := reflect.TypeFor[Profile]().NumField(); len(parameters) != fields {
		t.Fatalf("%d parameters for %d fields", len(parameters), fields)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		if got, err := ParseProfile(p.String()); err != nil || got != p {
			t.Fatalf("%s reads as %+v, %v, want %+v", p, got, err, p)
		}
	})
}

// Any profile that parses passes Check, works, and prints as text that parses to the same profile.
func FuzzParseProfile(f *testing.F) {
	for _, n := range Presets() {
		f.Add(n.Name)
		f.Add(n.Profile.String())
	}
	f.Add(everything.String())
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProfile(text)
		if err != nil {
			return
		}
		if again, err := ParseProfile(p.String()); err != nil || again != p {
			t.Fatalf("%q is %v and reads as %v, %v", text, p, again, err)
		}
		l := New(p, 1)
		for i := range uint64(20) {
			l.Push(time.Duration(i)*ms, []byte{1, 2, 3}, i)
			l.Pop(time.Duration(i) * ms)
		}
		if s := l.Stats(); !conserved(s, l.Len()) {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}

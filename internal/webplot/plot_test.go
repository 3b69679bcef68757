package webplot

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

// The vendored files have the checksums of README.md.
func TestVendoredFilesAreUnchanged(t *testing.T) {
	sums := regexp.MustCompile(`\| (uPlot\S+) \|[^|]+\| ([0-9a-f]{64}) \|`).FindAllStringSubmatch(
		read("README.md"), -1)
	if len(sums) != 3 {
		t.Fatalf("README.md names %d files", len(sums))
	}
	for _, sum := range sums {
		if got := sha256.Sum256([]byte(read(sum[1]))); hex.EncodeToString(got[:]) != sum[2] {
			t.Errorf("%s differs from its sum in README.md", sum[1])
		}
	}
	if !strings.Contains(read("README.md"), "1.6.32") ||
		!strings.Contains(read("uPlot.iife.min.js"), "v1.6.32") {
		t.Error("the version in README.md is not that of the file")
	}
	if !strings.Contains(read("uPlot.LICENSE"), "MIT License") {
		t.Error("the licence is gone")
	}
}

// Data in a script element cannot end the element.
func TestScriptEndsNoElement(t *testing.T) {
	if strings.Contains(strings.ToLower(Script()), "</script") ||
		strings.Contains(strings.ToLower(Style()), "</style") {
		t.Error("an end tag amid the text")
	}
}

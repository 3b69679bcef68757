// Package e2e opens our pages in a headless Chromium: the report from disk, the live page from a host with real players. It is
// all tests; they skip where there is no browser, and make e2e installs one where it may.
package e2e

// Package e2e opens our pages in a headless Chromium: the report from disk, the live page from a
// host with real players. It is all tests; they run by make e2e, which installs a browser where it
// may and says how where it may not.
package e2e

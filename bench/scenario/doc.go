// Package scenario says what a plan loads a server with: who plays, where, how wildly, over which network, against which
// settings. The text of a TOML file goes in; a checked Scenario comes out, or an error that names the line, the key and
// what was expected. It opens no file: the ones of this build are embedded, and Named reads them.
package scenario

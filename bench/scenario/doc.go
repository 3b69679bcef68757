// Package scenario describes the load of a benchmark: lobby, players, rates, network and settings
// of the server. The text of a TOML file goes in; a checked Scenario comes out, or an error that
// names the line, the key and what was expected. It opens no file: the scenarios of this build are
// embedded, and Named reads them.
package scenario

// Package tickrate is the root of an authoritative first-person-shooter lobby server, the netcode
// under it, and the bench that says how many players a machine carries and why. It holds no code:
// the program is cmd/tickrate, a lobby is package server, a headless player is package client, and
// each station between them is a package that knows nothing of the next. The table in
// layers_test.go lists the imports that each package may have.
package tickrate

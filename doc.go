// Package tickrate is the root of an authoritative first-person-shooter lobby server, the netcode under it, and the
// bench that says how many players a machine can carry and why. It holds no code of its own: the program is
// cmd/tickrate, a lobby is package server, a headless player is package client, and every station between them is a
// package that knows nothing of the next. layers_test.go beside this file is the table of who may import whom.
package tickrate

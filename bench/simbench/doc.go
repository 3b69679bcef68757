// Package simbench predicts what a scenario costs on this machine by playing it: the real lobby and
// real clients in one process and in virtual time. A scenario goes in; CPU time by stage (mean and
// standard error over repeats), bytes and the datagrams of every tick come out. What virtual time
// lacks, the package measures live: ServeTraffic and SendTraffic exchange the same datagrams over
// real sockets, tick by tick. Cost adds the two; Hosts turns them into machines and money.
//
// CPU times are of this machine at this moment. Nothing is recorded and nothing is fitted to
// earlier runs.
package simbench

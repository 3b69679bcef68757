// Package measure holds what benches measure: figures of one lobby size (Step), their quantiles,
// the account of bytes, and the plain statistics on them (means with intervals, ratios of pairs,
// cost curves A + B*N + C*N*V). Numbers go in and numbers come out: it imports nothing of this
// module and reads no clock. Here alone opens files: those in which the system describes itself.
package measure

// Package eval judges snapshot codecs on recorded entity states. Traces to train on and traces to test on go in; bytes and
// time for each codec come out. Every snapshot is coded against snapshots that are old enough to be acknowledged,
// decoded from the decoder's own memory of earlier ones, and compared.
package eval

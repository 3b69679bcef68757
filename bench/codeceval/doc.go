// Package codeceval compares snapshot codecs on recorded entity states. Traces to train on and a
// trace to judge by go in; bytes, time and verified snapshots of each codec come out. No player
// gets these codecs: the ones that a lobby sends are in ecs/schema and ecs/snapshot. It is for
// `tickrate codec eval` and for experiments.
//
// Every snapshot is coded against snapshots that are old enough to be acknowledged, decoded from
// the decoder's own memory of earlier ones, and compared with what was sent.
//
//	stored   changed fields of changed rows as plain numbers: the reference
//	huffman  static prefix codes chosen by context: fast
//	range    decisions with mixed contexts, range-coded: smallest
//	zstd     stored, packed with a trained dictionary: what a general compressor reaches
package codeceval

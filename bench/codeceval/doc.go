// Package codeceval measures the codecs of lobbies on recorded entity states. Traces to train on
// and a trace to judge by go in; bytes, time and verified snapshots of each codec come out. Schemas
// come from the head of a trace at run time. Coder, training, dictionaries and choice of baselines
// are those of ecs/schema and ecs/snapshot, as lobbies use them. It is for `tickrate codec eval`.
//
// Every snapshot is coded against snapshots that are old enough to be acknowledged, decoded from
// the decoder's own memory of earlier ones, and compared with what was sent. Bytes are those of
// blocks; the headers of runs, 4 or 5 bytes for 256 groups, are not counted. Some snapshots are also
// coded against nothing, as for a client that joins: codecs that pack such blocks differ in that.
package codeceval

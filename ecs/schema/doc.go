// Package schema says what a replicated row holds and how its numbers become bits. A list of fields with their ranges
// goes in; a Model comes out: one code for what happened to a row and one code per field for how far it moved.
//
// Rows are int32, quantised already by whoever captures them. The package knows nothing of entities, frames or
// baselines: a Coder codes one value against another. Schemas and models are named by hashes, so that two ends can
// tell in a handshake whether they mean the same bits.
package schema

// Package compress offers the ways to make a snapshot small behind one door. A model and a name go in, a Codec comes out;
// it turns a frame of rows into bytes, given the frames that both ends hold, and those bytes back into the frame.
//
//	stored   the changed fields of changed rows as plain numbers: no model, for looking at and for comparison
//	huffman  static prefix codes chosen by context: fast
//	range    decisions weighed by context and range-coded: smallest
//	zstd     stored, packed with a trained dictionary: what a general compressor makes of it
//
// Large blobs that are no snapshots go through package compress/dict.
package compress

// Package rows codes rows of integers against older ones that both ends hold. A schema and recorded
// frames go into Train, a Model comes out; with it a Range or a Huffman coder turns a frame and its
// Past into few bytes, and the bytes and the same Past into the frame again. Nothing else is
// shared: a message decodes alone, whatever was lost.
//
// Fields are coded in an order that training finds, and each is predicted first, in integers, from
// two kinds of numbers: what the row was in the frames held, and those of its fields that this
// message has told already. A field that follows from others is thus always predicted right and
// costs next to nothing, yet a surprise is only a larger number. What is left, the error, is coded
// in the light of small features of the same two kinds.
package rows

// Package ddnet is a headless client of DDNet servers, which speak the protocol of Teeworlds 0.6
// with tokens. Datagrams of the server and times go in; datagrams to send and figures come out. It
// opens no socket and reads no clock.
//
// The protocol was written down from its facts (layouts, message numbers, sizes of items and the
// frequencies behind the Huffman code), as src/engine/shared and datasrc/network.py of
// github.com/ddnet/ddnet and the documents of github.com/heinrich5991/libtw2 show them.
package ddnet

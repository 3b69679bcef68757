// Package quake3 is a headless client of Quake 3 servers (protocol 68, which OpenArena calls 71).
// Datagrams of the server and times go in; datagrams to send and figures come out. It opens no
// socket and reads no clock.
//
// The protocol was written down from its facts: the order of fields, their widths and the byte
// frequencies that seed the Huffman code are those of id Software's released game, as the files
// msg.c, net_chan.c, cl_parse.c and sv_client.c of github.com/ioquake/ioq3 show them. The
// adaptive Huffman code is that of the textbooks, see adaptive.go.
package quake3

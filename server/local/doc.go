// Package local lists the servers of one machine and user. A server keeps an entry, a file in a folder
// that is the user's own; readers get all entries. The lock of a server on its entry ends with its
// process, however that ends, so a reader tells entries that were left behind, and removes them.
package local

package netstate

import "github.com/tickrate/tickrate/ecs/schema"

// Set is all that client and server must agree on before rows mean anything: the schemas, and the models' hash.
func (m Models) Set() schema.Set {
	return schema.Set{Schemas: []schema.Schema{Public, Owner, Objects}, Model: m.Hash()}
}

// AppendText appends the text that tells the other end what we have, less than 2 KB, when hashes have told that it
// differs.
func (m Models) AppendText(dst []byte) []byte {
	dst, err := m.Set().AppendText(dst)
	if err != nil {
		panic("ghost: " + err.Error()) // a test writes them
	}
	return dst
}

// Mismatch says in one line what differs between our schemas and models, here, and those of a text from the network,
// there: "player.yaw: wrap 4096 here, wrap 2048 there". It is empty if nothing does. A text that cannot be read is said
// to be so.
func (m Models) Mismatch(theirs []byte) string {
	set, err := schema.ParseSet(theirs)
	if err != nil {
		return "there: " + err.Error()
	}
	return m.Set().Diff(set)
}

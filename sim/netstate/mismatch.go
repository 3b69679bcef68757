package netstate

import "github.com/tickrate/tickrate/ecs/schema"

// Set is everything that client and server must agree on before rows mean anything: the schemas,
// and the models' hash.
func (m Models) Set() schema.Set {
	return schema.Set{Schemas: []schema.Schema{Public, Owner, Objects}, Model: m.Hash()}
}

// AppendText appends the text that describes our set to the other end, less than 2 KB, after
// hashes differed.
func (m Models) AppendText(dst []byte) []byte {
	dst, err := m.Set().AppendText(dst)
	if err != nil {
		panic("netstate: " + err.Error()) // a test writes them
	}
	return dst
}

// Mismatch says in one line what differs between our schemas and models, here, and those of a text
// from the network, there: "player.yaw: wrap 4096 here, wrap 2048 there". It is empty if nothing
// does, and says so if the text is invalid.
func (m Models) Mismatch(theirs []byte) string {
	set, err := schema.ParseSet(theirs)
	if err != nil {
		return "there: " + err.Error()
	}
	return m.Set().Diff(set)
}

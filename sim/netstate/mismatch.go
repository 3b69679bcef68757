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

// Match compares our schemas and models with a text from the network. It returns nil, or a
// *schema.MismatchError that names what differs, or an error that wraps schema.ErrText.
func (m Models) Match(theirs []byte) error { return m.Set().Match(theirs) }

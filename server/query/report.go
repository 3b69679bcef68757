package query

import "encoding/binary"

// Info is one line of a server browser.
type Info struct {
	Players    uint16 `json:"players"` // now
	MaxPlayers uint16 `json:"max_players"`
	Name       string `json:"name"`
	Game       string `json:"game"` // game type
	Build      string `json:"build"`
	Map        string `json:"map"`
	Port       uint16 `json:"port"` // UDP port for players
}

// Rule is a setting.
type Rule struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// Field is a column of a table.
type Field struct {
	Name string
	Type Type
}

// Table is a list of players or teams. Each row has a value for each field, of its type.
type Table struct {
	Fields []Field // at most 255
	Rows   [][]Value
}

// Report describes a server.
type Report struct {
	Chunks  Chunks // present; the others are empty
	Info    Info
	Rules   []Rule
	Players Table
	Teams   Table
}

func (i *Info) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, i.Players)
	dst = binary.BigEndian.AppendUint16(dst, i.MaxPlayers)
	dst = appendText(dst, i.Name)
	dst = appendText(dst, i.Game)
	dst = appendText(dst, i.Build)
	dst = appendText(dst, i.Map)
	return binary.BigEndian.AppendUint16(dst, i.Port)
}

func (i *Info) parse(src []byte) (err error) {
	if len(src) < 4 {
		return ErrMalformed
	}
	i.Players, i.MaxPlayers = binary.BigEndian.Uint16(src), binary.BigEndian.Uint16(src[2:])
	src = src[4:]
	for _, s := range []*string{&i.Name, &i.Game, &i.Build, &i.Map} {
		if *s, src, err = parseText(src); err != nil {
			return err
		}
	}
	if len(src) != 2 {
		return ErrMalformed
	}
	i.Port = binary.BigEndian.Uint16(src)
	return nil
}

// appendRules writes, for each rule, its name, its type and its value. Rules that take more than
// limit bytes are left out.
func appendRules(dst []byte, rules []Rule, limit int) []byte {
	limit += len(dst)
	for _, r := range rules {
		if len(dst)+1+len(cut(r.Name))+1+r.Value.size() > limit {
			break
		}
		dst = appendText(dst, r.Name)
		dst = r.Value.append(append(dst, byte(r.Value.Type)))
	}
	return dst
}

func parseRules(src []byte) (rules []Rule, err error) {
	for len(src) > 0 {
		var r Rule
		if r.Name, src, err = parseText(src); err != nil || len(src) < 1 {
			return nil, ErrMalformed
		}
		r.Value.Type = Type(src[0])
		if src, err = r.Value.parse(src[1:]); err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// append writes a table. Rows beyond limit bytes are left out; the count is of the rows written.
//
//	2  rows
//	1  fields
//	   for each field: its name, 1 type
//	   for each row: its values
func (t *Table) append(dst []byte, limit int) []byte {
	limit += len(dst)
	count := len(dst)
	dst = append(dst, 0, 0, byte(len(t.Fields)))
	for _, f := range t.Fields {
		dst = append(appendText(dst, f.Name), byte(f.Type))
	}
	rows := 0
	for _, row := range t.Rows {
		whole := len(dst)
		for i, f := range t.Fields {
			dst = Value{f.Type, row[i].Number, row[i].Text}.append(dst)
		}
		if len(dst) > limit || rows == 1<<16-1 {
			dst = dst[:whole]
			break
		}
		rows++
	}
	binary.BigEndian.PutUint16(dst[count:], uint16(rows))
	return dst
}

func (t *Table) parse(src []byte) (err error) {
	if len(src) < 3 {
		return ErrMalformed
	}
	rows, fields := int(binary.BigEndian.Uint16(src)), int(src[2])
	src = src[3:]
	t.Fields = make([]Field, fields)
	least := 0 // bytes of a row
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Name, src, err = parseText(src); err != nil || len(src) < 1 {
			return ErrMalformed
		}
		if f.Type, src = Type(src[0]), src[1:]; f.Type >= numTypes {
			return ErrMalformed
		}
		least += Value{Type: f.Type}.size()
	}
	if rows > 0 && fields == 0 || rows*least > len(src) { // checked before memory is allocated
		return ErrMalformed
	}
	t.Rows = make([][]Value, rows)
	values := make([]Value, rows*fields)
	for i := range t.Rows {
		row := values[i*fields : (i+1)*fields : (i+1)*fields]
		for j := range row {
			row[j].Type = t.Fields[j].Type
			if src, err = row[j].parse(src); err != nil {
				return err
			}
		}
		t.Rows[i] = row
	}
	if len(src) != 0 {
		return ErrMalformed
	}
	return nil
}

// ParseReport parses the payloads of a response, joined, as the answer to a query for the given
// chunks. A server may have fewer; then the last ones are missing. Texts are valid UTF-8 but may
// hold control characters.
func ParseReport(src []byte, asked Chunks) (r Report, err error) {
	if len(src) > maxStream {
		return Report{}, ErrMalformed
	}
	for chunk := ChunkInfo; chunk <= ChunkTeams && len(src) > 0; chunk <<= 1 {
		if asked&chunk == 0 {
			continue
		}
		if len(src) < 4 || uint64(len(src)-4) < uint64(binary.BigEndian.Uint32(src)) {
			return Report{}, ErrMalformed
		}
		n := 4 + int(binary.BigEndian.Uint32(src))
		if err := r.parse(chunk, src[4:n]); err != nil {
			return Report{}, err
		}
		r.Chunks |= chunk
		src = src[n:]
	}
	if len(src) != 0 {
		return Report{}, ErrMalformed
	}
	return r, nil
}

func (r *Report) parse(chunk Chunks, src []byte) (err error) {
	switch chunk {
	case ChunkInfo:
		return r.Info.parse(src)
	case ChunkRules:
		r.Rules, err = parseRules(src)
		return err
	case ChunkPlayers:
		return r.Players.parse(src)
	}
	return r.Teams.parse(src)
}

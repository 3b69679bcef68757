// Package content reads content packs: the numbers of heroes, abilities, projectiles, objects,
// modes and maps, in TOML. A directory (an fs.FS) goes in; a checked Pack comes out, its hashes,
// and tables compiled for a tick rate. A pack that is wrong in anything is refused whole, with one
// error that names file, line, key and what was expected. Changing a weapon's damage is editing a
// file; the default pack is embedded.
//
// # Files
//
//	pack.toml      format, name, files: the others, in their order; and any row that those may hold
//	*.toml         rows of [[hero]], [[ability]], [[projectile]], [[grenade]], [[area]], [[item]],
//	               [[effect]], [[mode]], [[map]], [[asset]]; and [barrel], [cube], [zone], [rules], each once in all files
//	assets         any files that an [[asset]] names, with the SHA-256 of their bytes
//
// Every key must be known, and must be there unless keys.go says that it may be left out, which
// then means 0 or none. Rows refer to each other by name; compiled tables have ids: a row's number
// in its list, files in their order, from 0.
//
// # Sides
//
// Some keys only a server needs (damage), others only a client (titles). A pack may be read for one
// side: what is only the other's is then neither needed nor looked at, and assets of the other are
// not opened. Canonical writes a pack back as one file, the whole of it or one side's variant; that
// text has no comments and one order, and hashes are of it. Both ends compare Shared, the hash of
// what both need, so ids and predicted numbers agree.
package content

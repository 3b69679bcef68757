package dict

import _ "embed" // the dictionary of replays

// replay was trained on recordings of matches, by tickrate codec dict. Recordings name it by their
// version: better bytes are another version.
//
//go:embed replay.zdict
var replay []byte

// ReplayDictionary returns the dictionary of recorded matches, nil if there is none; it must not be
// changed.
func ReplayDictionary() []byte {
	if len(replay) == 0 {
		return nil
	}
	return replay
}

package host

import (
	"slices"
	"sync"

	"github.com/tickrate/tickrate/server"
)

// sharedMaps are the maps of a host with several lobbies. Lobbies on one map share what is made of
// it: the arena, its packed form and its visible sets. Any goroutine may use it; only load waits.
type sharedMaps struct {
	mu      sync.Mutex // guards maps and their users
	maps    []*sharedMap
	loading sync.Mutex // held while a map is loaded: one at a time, for its memory
}

// sharedMap is a map that lobbies play, and is forgotten with the last of them.
type sharedMap struct {
	spec   server.MapSpec
	users  int // lobbies
	once   sync.Once
	loaded server.LoadedMap // packed and read-only after once
	err    error            // of loading
}

// load returns a map for one more lobby. A map that no lobby plays is read.
func (s *sharedMaps) load(spec server.MapSpec, read func() loadedMap) (*sharedMap, error) {
	one := s.use(spec)
	one.once.Do(func() {
		s.loading.Lock()
		defer s.loading.Unlock()
		m := pack(read)
		one.loaded, one.err = m.loaded, m.err
	})
	if one.err != nil {
		s.forget(one)
		return nil, one.err
	}
	return one, nil
}

// pack reads a map and packs it.
func pack(read func() loadedMap) (m loadedMap) {
	defer recoverLoad(&m)
	if m = read(); m.err == nil {
		m.loaded.Pack()
	}
	return m
}

// use counts one more lobby on a map.
func (s *sharedMaps) use(spec server.MapSpec) *sharedMap {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.maps, func(one *sharedMap) bool { return one.spec == spec })
	if i < 0 {
		i, s.maps = len(s.maps), append(s.maps, &sharedMap{spec: spec})
	}
	s.maps[i].users++
	return s.maps[i]
}

// release takes a lobby from the map that it has played; nil: it played none of these.
func (s *sharedMaps) release(one *sharedMap) {
	if one == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.users--; one.users == 0 {
		s.remove(one)
	}
}

// forget makes the next lobby read a map anew that could not be read.
func (s *sharedMaps) forget(one *sharedMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(one)
}

// remove takes a map off the list, if it is there.
func (s *sharedMaps) remove(one *sharedMap) {
	s.maps = slices.DeleteFunc(s.maps, func(other *sharedMap) bool { return other == one })
}

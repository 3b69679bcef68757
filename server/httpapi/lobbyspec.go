package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// LobbySpec is what POST /v1/lobbies asks for. Zero fields mean what the server was started with.
type LobbySpec struct {
	Name    string `json:"name"`
	Map     string `json:"map"`
	Mode    string `json:"mode"`
	Content string `json:"content"` // pack of map and mode: its hash, or the name of its folder
	Players int    `json:"players"` // at most as many as the server was started for
	RateHz  int    `json:"rate_hz"`
	Seed    uint64 `json:"seed"`

	// Level of detail: how much each client is sent.

	SendInterval int     `json:"send_interval"` // ticks from one snapshot of a client to the next
	Codec        string  `json:"codec"`         // of snapshots, which clients follow
	Kbps         int     `json:"kbps"`          // most kbit/s to a client
	ViewDistance float32 `json:"view_distance"` // metres beyond which no player is sent

	// MinLoadLevel is the load level that the lobby begins with, and below which it never goes:
	// normal, half_rate, quarter_rate or low_detail.
	MinLoadLevel string `json:"min_load_level"`
}

// maxLobbySpec is the longest body of a request for a lobby, in bytes.
const maxLobbySpec = 4096

// readLobbySpec reads the body of a request for a lobby; an empty one asks for nothing. Errors name
// the field and what was expected.
func readLobbySpec(body io.Reader) (spec LobbySpec, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&spec); errors.Is(err, io.EOF) {
		return spec, nil
	}
	if err == nil {
		if err = decoder.Decode(new(any)); errors.Is(err, io.EOF) {
			return spec, nil
		}
		return spec, errors.New("body: expected one JSON object and nothing after it")
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return spec, fmt.Errorf("%s: expected %s, got a %s", kind.Field, jsonWord(kind.Type), kind.Value)
	}
	if _, name, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
		return spec, fmt.Errorf("%.80s: no such field: expected %s", name, specFields())
	}
	return spec, fmt.Errorf("body: expected a JSON object of %s, all optional", specFields())
}

// jsonWord names what JSON has for a type.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Float32:
		return "a number"
	case reflect.Uint64:
		return "a whole number from 0 on"
	}
	return "a whole number"
}

// specFields lists the fields of a LobbySpec.
func specFields() string {
	var names []string
	for field := range reflect.TypeFor[LobbySpec]().Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

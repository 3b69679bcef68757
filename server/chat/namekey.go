package chat

import (
	"strings"

	"github.com/mtibben/confusables"
)

// NameKey is equal for names that look alike: in upper and lower case, in letters of another script or of
// full width, with a one for an l or an i. It is the skeleton of Unicode's technical standard 39, in lower
// case. It is not for display.
func NameKey(name string) string {
	// The skeleton takes I for l and 0 for O, but knows nothing of case.
	key := confusables.Skeleton(strings.ToLower(confusables.Skeleton(name)))
	return strings.ReplaceAll(strings.ToLower(key), "i", "l")
}

// reserved are the keys of names that only the server speaks as.
var reserved = func() map[string]bool {
	keys := map[string]bool{}
	for _, name := range []string{"admin", "administrator", "console", "host", "mod", "moderator", "operator",
		"owner", "server", "system", "tickrate"} {
		keys[NameKey(name)] = true
	}
	return keys
}()

// ReservedKey reports whether a name with that key looks like one that no player may have.
func ReservedKey(key string) bool { return reserved[key] }

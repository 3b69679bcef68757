// The private key of a server: where it is read from, and the file that holds it. Commands that
// mint or accept tokens share these flags.

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/internal/wholefile"
	"github.com/tickrate/tickrate/netio/netcode"
)

const (
	keyVariable    = "TICKRATE_PRIVATE_KEY" // environment variable with the key in hexadecimal
	defaultKeyFile = "tickrate.key"
	keyFlag        = "private-key-hex"
)

// keyFlags say where the private key comes from: the flag, else the environment, else the file.
type keyFlags struct {
	file, hex string // of the key; the key itself in hexadecimal
	fileSet   bool   // file was given on the command line
	hexSet    bool   // hex was given on the command line
	insecure  bool   // accepts the well-known test key and a key of zeros
}

// register adds the flags of a key to c. about ends the help of --key-file.
func (k *keyFlags) register(c *cobra.Command, about string) {
	fl := c.Flags()
	fl.StringVar(&k.file, "key-file", defaultKeyFile, "`file` with the private key, 64 hexadecimal "+
		"digits; "+about)
	fl.StringVar(&k.hex, keyFlag, "", "the private key itself, 64 hexadecimal `digits`; every process "+
		"of this machine can see it: rather use "+keyVariable+"; default that, or the key file")
	fl.BoolVar(&k.insecure, "insecure-test-key", false, "allow the key that netcode's examples share, "+
		"and a key of zeros; for tests")
}

// check notes which flags were given. Two sources on the command line are an error of use.
func (k *keyFlags) check(c *cobra.Command) error {
	k.fileSet, k.hexSet = c.Flags().Changed("key-file"), c.Flags().Changed(keyFlag)
	if k.fileSet && k.hexSet {
		return usage.Error(errors.New("--key-file and --" + keyFlag +
			": one key is enough; give one of them"))
	}
	return nil
}

// fromFile reports whether the key is read from the file.
func (k *keyFlags) fromFile() bool { return !k.hexSet && os.Getenv(keyVariable) == "" }

// given reports whether a flag or the environment sets a key.
func (k *keyFlags) given() bool { return k.fileSet || !k.fromFile() }

// missingKey says what happens if the key file does not exist.
type missingKey int

const (
	failWithoutKey missingKey = iota // an error of use
	makeKey                          // a new random key in a new file
)

// read returns the key from the first source that is set. Notes for the user go to say. A key that
// does not parse, and the test key without k.insecure, are errors of use.
func (k *keyFlags) read(missing missingKey, say io.Writer) (key netcode.Key, err error) {
	var text, source string
	switch {
	case k.hexSet:
		text, source = k.hex, "--"+keyFlag
	case !k.fromFile():
		text, source = os.Getenv(keyVariable), keyVariable
		if k.fileSet {
			fmt.Fprintf(say, "--key-file %s is not read: %s comes before it\n", k.file, keyVariable)
		}
	default:
		source = "key file " + k.file
		if text, err = readKeyFile(k.file, missing, say); err != nil {
			return key, err
		}
	}
	// A key that does not parse is never printed: it may be a real one with a typo.
	if key, err = netcode.ParseKey(text); err != nil {
		return key, usage.Errorf("%s: expected 64 hexadecimal digits", source)
	}
	if key.IsTestKey() && !k.insecure {
		return netcode.Key{}, usage.Errorf("%s: refusing the well-known test key; "+
			"--insecure-test-key allows it", source)
	}
	return key, nil
}

// readKeyFile returns the text of a key file without its final newline.
func readKeyFile(path string, missing missingKey, say io.Writer) (string, error) {
	raw, err := openKeyFile(path, say)
	if errors.Is(err, fs.ErrNotExist) {
		if missing != makeKey {
			return "", usage.Errorf("no private key: %w; tickrate serve makes one, or set %s",
				err, keyVariable)
		}
		if err := makeKeyFile(path, say); err != nil {
			return "", fmt.Errorf("make key file %s: %w", path, cause(err))
		}
		raw, err = openKeyFile(path, say)
	}
	if err != nil {
		return "", usage.Errorf("key file: %w", err)
	}
	return string(bytes.TrimRight(raw, "\r\n")), nil
}

// cause strips the temporary file's name from an error, since it means nothing to the user.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// openKeyFile reads at most 256 bytes of a key file, more than a valid one has. It warns of a file
// that other users can read or write.
func openKeyFile(path string, say io.Writer) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	warnOfMode(path, "private key", say)
	return io.ReadAll(io.LimitReader(f, 256))
}

// warnOfMode warns of a file with a secret that other users can read or write.
func warnOfMode(path, secret string, say io.Writer) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 &&
		runtime.GOOS != "windows" {
		fmt.Fprintf(say, warningPrefix+"others on this machine can read or change the %s; chmod 600 %s\n",
			secret, path)
	}
}

// readFleetKey reads the key of a fleet's messages.
func readFleetKey(path string, say io.Writer) (announce.Key, error) {
	warnOfMode(path, "fleet key", say)
	key, err := announce.ReadKey(path)
	return key, usage.Error(err)
}

const warningPrefix = "warning: "

// warningWriter logs each line that is written to it: at level WARN if it begins with warningPrefix.
type warningWriter struct{ log *slog.Logger }

func (w warningWriter) Write(p []byte) (int, error) {
	if text, warning := strings.CutPrefix(strings.TrimSuffix(string(p), "\n"), warningPrefix); warning {
		w.log.Warn(text)
	} else {
		w.log.Info(text)
	}
	return len(p), nil
}

// makeKeyFile writes a new random key. It succeeds if another process has just made the file.
func makeKeyFile(path string, say io.Writer) error {
	var key netcode.Key
	_, _ = rand.Read(key[:]) // never fails: it ends the program
	err := writeSecret(path, append(hex.AppendEncode(nil, key[:]), '\n'), os.Link)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		at, errAbs := filepath.Abs(path)
		if errAbs != nil {
			at = path
		}
		fmt.Fprintf(say, "made a new private key: %s; its owner can let players in\n", at)
	}
	return err
}

// writeSecret writes a file that only its owner can read. place (os.Link or os.Rename) gives it its
// name once it is complete.
func writeSecret(path string, data []byte, place func(from, to string) error) error {
	return wholefile.Publish(path, 0o600, place, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

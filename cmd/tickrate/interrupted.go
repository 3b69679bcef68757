// What an error says of a command that was interrupted or ran out of time.

package main

import (
	"context"
	"strings"
)

// plainError is the text of an error for a person: a command that a signal ends is interrupted,
// whatever of its parts says so, and a deadline is an answer that did not come.
func plainError(err error) string {
	return strings.NewReplacer(context.Canceled.Error(), "interrupted",
		context.DeadlineExceeded.Error(), "no answer in time").Replace(err.Error())
}

package director

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests, but those that the socket library starts with the program.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
)

// WhyOptions are the settings of Why.
type WhyOptions struct {
	HTTP, Secret string // host:port of the server, and the secret of that port, empty for none
	// Client and Entity are words for server.Lobby.FindPlayer. Entity may be an object reference
	// too, as server.ParseObjectRef reads it, or empty for all players and objects.
	Client, Entity string
	JSON           bool // writes JSON as GET /v1/explain
}

// Why writes why a client of a running server was or was not sent an entity in its newest snapshot.
// It asks GET /v1/explain. A malformed object reference is an error of use.
func Why(ctx context.Context, out io.Writer, o WhyOptions) error {
	if kind, _, ok := strings.Cut(o.Entity, ":"); ok && kind != "slot" && kind != "client" {
		if _, err := server.ParseObjectRef(o.Entity); err != nil {
			return usage.Error(err)
		}
	}
	q := url.Values{"client": {o.Client}}
	if o.Entity != "" {
		q.Set("entity", o.Entity)
	}
	var answer json.RawMessage
	if err := serverapi.Get(ctx, o.HTTP, "/v1/explain?"+q.Encode(), o.Secret, &answer); err != nil {
		return err
	}
	var reply httpapi.ExplainReply
	if err := json.Unmarshal(answer, &reply); err != nil || len(reply.Explanations) == 0 {
		return errors.Join(serverapi.ErrVersion, err)
	}
	missing := o.missing(reply.Explanations[0].Reason)
	switch {
	case o.JSON:
		fmt.Fprintf(out, "%s\n", answer)
	case missing != nil:
	case o.Entity == "":
		return printExplanations(out, reply.Explanations)
	default:
		fmt.Fprintln(out, reply.Explanations[0].Sentence())
	}
	return missing
}

// missing is the error of an explanation about a client or an entity that is not there, else nil.
func (o *WhyOptions) missing(why server.Reason) error {
	switch why {
	case server.ReasonNoClient:
		return fmt.Errorf("CLIENT %s: %s; the console line list shows all", o.Client, why.Text())
	case server.ReasonNoEntity:
		return fmt.Errorf("ENTITY %s: %s", o.Entity, why.Text())
	}
	return nil
}

// printExplanations writes a table of entities: those that were not sent come first, and the
// nearest to the viewpoint of the client first among equals. all has at least one element, and it
// sorts all.
func printExplanations(out io.Writer, all []server.Explanation) error {
	if all[0].Tick == 0 { // no snapshot was sent yet
		fmt.Fprintln(out, all[0].Sentence())
		return nil
	}
	sent := func(v server.Explanation) int {
		if v.Reason == server.ReasonSent {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(x, y server.Explanation) int {
		return cmp.Or(cmp.Compare(sent(x), sent(y)), cmp.Compare(x.Metres, y.Metres))
	})
	fmt.Fprintf(out, "client %d, by the snapshot of tick %d, %d ticks ago\n\n",
		all[0].Client, all[0].Tick, all[0].Age)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "entity\tmetres\treason")
	for i := range all {
		v := &all[i]
		fmt.Fprintf(w, "%s\t%d\t%v: %s\n", v.Name(), v.Metres, v.Reason, v.Text)
	}
	return w.Flush()
}

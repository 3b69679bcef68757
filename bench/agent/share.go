package agent

// Share is the players of one agent: Count players from number First.
type Share struct {
	First int `json:"first"`
	Count int `json:"count"`
}

// Cut divides clients into as many shares as there are agents, none larger than another by more
// than one. Each client is in one share; shares are empty where there are more agents than clients.
func Cut(clients, agents int) []Share {
	all := make([]Share, agents)
	for i := range all {
		first, end := i*clients/agents, (i+1)*clients/agents
		all[i] = Share{first, end - first}
	}
	return all
}

// full is how many players of the share are among the first full of all.
func (s Share) full(full int) int { return min(max(full-s.First, 0), s.Count) }

// rotated returns the values that the players of the share use in turn, beginning with that of its
// first player.
func rotated[T any](all []T, first int) []T {
	first %= len(all)
	return append(append([]T(nil), all[first:]...), all[:first]...)
}

package mode

import (
	"github.com/tickrate/tickrate/ecs/netid"
)

// Kill is a player's death. Deaths of a KillAll are none.
type Kill struct {
	Killer, Victim         netid.ID // the same: suicide; Killer 0: the world
	KillerTeam, VictimTeam uint8
}

// Occupancy is how many living players of each team stand in a zone.
type Occupancy [Teams]uint16

// Input is the input of a tick. Every value is valid: unknown teams and zones do not count.
type Input struct {
	Players [Teams]uint16 // team sizes, alive or dead
	Kills   []Kill        // in the order in which they happened
	Zones   []Occupancy   // by point; those that are missing are empty
}

// AnnouncementKind is the kind of an announcement.
type AnnouncementKind uint8

// The announcements, and the fields that each uses.
const (
	WaitForPlayers AnnouncementKind = iota + 1 // Value: how many are missing
	CountdownBegan                             // Value: seconds
	RoundBegan                                 // Value: seconds
	PlayerKilled                               // Killer, Victim, Team: the killer's
	PlayerSuicide                              // Victim, Team: the victim's
	PlayerDied                                 // Victim, Team: the victim's; killed by the world
	PointAttacked                              // Point
	PointCaptured                              // Point, N: how many are left
	RoundWon                                   // Team
	RoundTied
	AnnouncementKinds // how many there are, and 1
)

// Announcement is a message to all players. Its text is made elsewhere.
type Announcement struct {
	Kind           AnnouncementKind
	Team, Point    uint8
	Value          int32
	Killer, Victim netid.ID
}

// Output is what a tick produces besides the State. Step empties it first and appends, so that its
// slices are reused: at most an announcement and an award for each kill, and three announcements
// more.
type Output struct {
	Announcements []Announcement
	Awards        []netid.ID // players that get a point each; one may be named often
	KillAll       bool       // the round is over: all players die, without a killer
	Restart       bool       // a new round: points are 0, all may spawn, objects are whole
}

func (o *Output) announce(a Announcement) { o.Announcements = append(o.Announcements, a) }

// Step is one tick.
func (r *Rules) Step(s State, in *Input, out *Output) State {
	out.Announcements, out.Awards, out.KillAll, out.Restart = out.Announcements[:0], out.Awards[:0], false,
		false
	for i := range in.Kills {
		s.kill(&in.Kills[i], r, out)
	}
	switch s.Phase {
	case Countdown:
		s.countdown(r, in, out)
	case Active:
		s.active(r, in, out)
	default:
		s.ended(r, out)
	}
	return s
}

// kill announces a death, and scores it. A player's points count in both modes, a team's in
// Deathmatch.
func (s *State) kill(k *Kill, r *Rules, out *Output) {
	switch {
	case k.Killer == 0:
		out.announce(Announcement{Kind: PlayerDied, Victim: k.Victim, Team: k.VictimTeam})
		return
	case k.Killer == k.Victim:
		out.announce(Announcement{Kind: PlayerSuicide, Victim: k.Victim, Team: k.VictimTeam})
		return
	}
	out.announce(Announcement{Kind: PlayerKilled, Killer: k.Killer, Victim: k.Victim, Team: k.KillerTeam})
	if s.Phase != Active || k.KillerTeam == k.VictimTeam || k.KillerTeam >= Teams || k.VictimTeam >= Teams {
		return
	}
	out.Awards = append(out.Awards, k.Killer)
	if r.Kind == Deathmatch {
		s.Score[k.KillerTeam]++
	}
}

// countdown waits until there are enough players, then counts. It starts again if too few are
// left.
func (s *State) countdown(r *Rules, in *Input, out *Output) {
	players := int32(in.Players[0]) + int32(in.Players[1])
	if missing := int32(r.MinPlayers) - players; missing > 0 {
		if !s.Waiting {
			out.announce(Announcement{Kind: WaitForPlayers, Value: missing})
		}
		s.Waiting, s.Left = true, r.prematch
		return
	}
	if s.Waiting {
		s.Waiting = false
		out.announce(Announcement{Kind: CountdownBegan, Value: int32(r.Seconds(s))})
	}
	if s.Left--; s.Left == 0 {
		s.Phase, s.Left = Active, r.round
		out.announce(Announcement{Kind: RoundBegan, Value: int32(r.Seconds(s))})
	}
}

func (s *State) active(r *Rules, in *Input, out *Output) {
	if r.Kind == Assault {
		s.capture(r, in, out)
	}
	s.Left--
	if winner := s.winner(r); winner != NoWinner {
		s.end(winner, r, out)
	}
}

// winner judges a tick of Active.
func (s *State) winner(r *Rules) uint8 {
	if r.Kind == Assault {
		switch {
		case s.Point == r.Points:
			return Attackers
		case s.Left == 0:
			return Defenders
		}
		return NoWinner
	}
	limit := r.ScoreLimit > 0 && max(s.Score[0], s.Score[1]) >= r.ScoreLimit
	switch {
	case !limit && s.Left > 0:
		return NoWinner
	case s.Score[0] > s.Score[1]:
		return 0
	case s.Score[1] > s.Score[0]:
		return 1
	}
	return Tie
}

func (s *State) end(winner uint8, r *Rules, out *Output) {
	s.Phase, s.Left, s.Winner, s.Status = Ended, r.postmatch, winner, Quiet
	out.KillAll = true
	if winner == Tie {
		out.announce(Announcement{Kind: RoundTied})
		return
	}
	out.announce(Announcement{Kind: RoundWon, Team: winner})
}

// ended waits, then begins the next round. Only the spawn turns are kept.
func (s *State) ended(r *Rules, out *Output) {
	if s.Left--; s.Left > 0 {
		return
	}
	turn, round := s.Turn, s.Round
	*s = r.Start()
	s.Turn, s.Round = turn, round+1
	out.Restart = true
}

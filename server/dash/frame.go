package dash

// About is what stays the same while a lobby runs: the first event of every stream.
type About struct {
	Name       string   `json:"name"`
	Mode       string   `json:"mode"`
	Rate       int      `json:"rate_hz"`
	Interval   int      `json:"interval_ticks"`
	MaxPlayers int      `json:"max_players"`
	Stages     []Stage  `json:"stages"`  // in the order of a tick
	Parts      []string `json:"parts"`   // sections of the bytes to clients
	Bones      []string `json:"bones"`   // of a Body
	Effects    []string `json:"effects"` // kinds of effects
}

// Stage is a part of a tick.
type Stage struct {
	Name  string `json:"name"`
	Group string `json:"group"` // under which it is drawn
}

// Frame is the state of a lobby, and what it did since the frame before. Its slices are reused:
// empty them and append.
type Frame struct {
	Tick      uint64  `json:"tick"`
	Seconds   float64 `json:"seconds"`    // since the host started
	Span      float64 `json:"span"`       // seconds since the frame before
	Arena     string  `json:"arena"`      // of the map at /dash/map.json
	LoadLevel string  `json:"load_level"` // what overload leaves out; "normal" is nothing
	// Frames since the start that were replaced before they were sent.
	Dropped uint64 `json:"dropped"`

	Ticks  []Tick    `json:"ticks"`  // the newest, at most MaxTicks
	Stages []float64 `json:"stages"` // mean CPU time a tick, us, in the order of About
	// Bytes a second of UDP payload to all clients, in the order of About.
	Parts []float64 `json:"parts"`
	Up    float64   `json:"up"`   // likewise from all clients
	Down  float64   `json:"down"` // sum of Parts

	Movers  []Box    `json:"movers"`  // where the map's movers are
	Score   [2]int   `json:"score"`   // of the teams, in this round
	Players []Player `json:"players"` // all of the lobby, whatever clients are sent
	Shots   []Shot   `json:"shots"`   // that hit a player, at most MaxShots
	Rays    []Ray    `json:"rays"`    // other shots, at most MaxRays

	Effects      []Effect `json:"effects"`       // those that the map shows, at most MaxEffects
	EffectCounts []uint64 `json:"effect_counts"` // all since the frame before, in the order of About
}

// Most of what one frame holds.
const (
	MaxTicks = 64
	MaxShots = 8
	MaxRays  = 64

	MaxMovers = 64 // a map has no more

	MaxEffects = 64
)

// Tick is the time of one tick, in µs.
type Tick struct {
	CPU  float32 `json:"cpu"`
	Wall float32 `json:"wall"`
	Late float32 `json:"late"` // from the scheduled instant
}

// Player is one player or spectator. Rates are those since the frame before; without a session they
// are 0.
type Player struct {
	Slot      int     `json:"slot"`
	Name      string  `json:"name"`
	Team      int     `json:"team"`
	X         float32 `json:"x"` // metres
	Y         float32 `json:"y"` // of the feet
	Z         float32 `json:"z"`
	Yaw       float32 `json:"yaw"`  // degrees: 0 looks along +z, 90 along +x
	Body      bool    `json:"body"` // it has a body: otherwise the numbers above mean nothing
	Spectator bool    `json:"spectator"`
	Alive     bool    `json:"alive"`
	Health    int     `json:"health"`
	Kills     int     `json:"kills"`  // points: enemies killed during rounds
	Deaths    int     `json:"deaths"` // since it joined, or since the round began

	Connected bool    `json:"connected"` // has a session
	RTT       float32 `json:"rtt"`       // ms
	Jitter    float32 `json:"jitter"`    // mean distance of a round trip from the mean one, ms
	LossDown  float32 `json:"loss_down"` // of packets to it with a known result, %
	LossUp    float32 `json:"loss_up"`   // of packets from it, %
	Down      float32 `json:"down"`      // kbit/s of UDP payload
	Up        float32 `json:"up"`
	Buffer    int     `json:"buffer"` // commands that wait, in ticks
	// Share of its ticks without a command of its own, %.
	InputsMissing  float32 `json:"inputs_missing"`
	Mispredictions uint32  `json:"mispredictions"` // since it joined, as the client reports them
	// commands that were clamped or conflicted with an earlier one, since it joined
	InputsRejected uint64 `json:"inputs_rejected"`
	Resyncs        uint64 `json:"resyncs"` // restarts without baselines, since it joined
}

// Vec is a point: x, y up, z; metres.
type Vec [3]float32

// Box is two opposite corners, the smaller first.
type Box struct {
	Min Vec `json:"min"`
	Max Vec `json:"max"`
}

// Capsule is both ends of an axis and the radius: ax, ay, az, bx, by, bz, r; metres.
type Capsule [7]float32

// Body holds the capsules of a player, by bone.
type Body []Capsule

// Ray is the path of a shot.
type Ray struct {
	From Vec `json:"from"`
	To   Vec `json:"to"`
}

// Shot is a shot that hit, with the target as it was rewound and as it stood at that moment.
type Shot struct {
	Ray
	Radius  float32 `json:"radius"` // of the round, which touched the bone at To; metres
	Tick    uint64  `json:"tick"`
	Shooter int     `json:"shooter"` // slots
	Victim  int     `json:"victim"`
	Bone    string  `json:"bone"`
	Back    float32 `json:"back"` // age of the shooter's view, ms
	Then    Body    `json:"then"` // in that view
	Now     Body    `json:"now"`
}

// Effect is an impact, an explosion, damage or a death.
type Effect struct {
	Kind string `json:"kind"`
	At   Vec    `json:"at"`
	// Of an impact the normal of what it struck, of damage the direction in which it pushed; 0: none.
	Dir      Vec     `json:"dir"`
	Strength float32 `json:"strength"` // of an explosion its radius, m; of damage its impulse, m/s
	Amount   int     `json:"amount"`   // of damage, points
	Count    int     `json:"count"`    // equal ones
	Source   int     `json:"source"`   // slots; -1: none
	Target   int     `json:"target"`
}

// Map is the ground seen from above.
type Map struct {
	Arena  string  `json:"arena"`
	Min    Vec     `json:"min"`
	Max    Vec     `json:"max"`
	Solids []Solid `json:"solids"`
}

// Solid is a box, or a ramp: the lower half of its box, named for the side at which it is high.
type Solid struct {
	Min   Vec    `json:"min"`
	Max   Vec    `json:"max"`
	Shape string `json:"shape"` // box, +x, -x, +z, -z
	// 1 or 2: nothing to this team, a box to the other; 0: the same to all.
	Team int `json:"team"`
}

// reset forgets what a frame holds and keeps its memory.
func (f *Frame) reset() {
	*f = Frame{Ticks: f.Ticks[:0], Stages: f.Stages[:0], Parts: f.Parts[:0], Players: f.Players[:0],
		Movers: f.Movers[:0], Shots: f.Shots[:0], Rays: f.Rays[:0], Effects: f.Effects[:0], EffectCounts: f.EffectCounts[:0]}
}

// AddShot returns one more shot to fill, with the bodies that its memory last had, or nil if there
// are enough.
func (f *Frame) AddShot() *Shot {
	n := len(f.Shots)
	if n == MaxShots {
		return nil
	}
	f.Shots = f.Shots[:n+1]
	s := &f.Shots[n]
	*s = Shot{Then: s.Then[:0], Now: s.Now[:0]}
	return s
}

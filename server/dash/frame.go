package dash

// About is what does not change while a lobby runs: the first event of every stream.
type About struct {
	Name       string   `json:"name"`
	Mode       string   `json:"mode"`
	Rate       int      `json:"rate_hz"`
	Interval   int      `json:"interval_ticks"`
	MaxPlayers int      `json:"max_players"`
	Stages     []Stage  `json:"stages"` // in the order of a tick
	Parts      []string `json:"parts"`  // what bytes to clients are for
	Bones      []string `json:"bones"`  // of a Body
}

// Stage is a part of a tick.
type Stage struct {
	Name  string `json:"name"`
	Group string `json:"group"` // under which it is drawn
}

// Frame is a lobby at one moment, and what it did since the frame before. Its slices are reused: whoever fills a frame cuts them to
// nothing and appends.
type Frame struct {
	Tick    uint64  `json:"tick"`
	Seconds float64 `json:"seconds"` // since the host started
	Span    float64 `json:"span"`    // seconds since the frame before: what rates are of
	Arena   string  `json:"arena"`   // whose map is at /dash/map.json
	Shed    string  `json:"shed"`    // what overload makes the lobby leave out
	Missed  uint64  `json:"missed"`  // frames, since the start, that nobody was told because none was ready to

	Ticks  []Tick    `json:"ticks"`  // the newest, at most MaxTicks
	Stages []float64 `json:"stages"` // mean CPU time a tick, us, in the order of About
	Parts  []float64 `json:"parts"`  // bytes a second of UDP payload to all clients, in the order of About
	Up     float64   `json:"up"`     // likewise from all clients
	Down   float64   `json:"down"`   // sum of Parts

	Players []Player `json:"players"`
	Shots   []Shot   `json:"shots"` // that hit somebody, at most MaxShots
	Rays    []Ray    `json:"rays"`  // other shots, at most MaxRays
}

// Most of what one frame holds.
const (
	MaxTicks = 64
	MaxShots = 8
	MaxRays  = 64
)

// Tick is what one tick took, in us.
type Tick struct {
	CPU  float32 `json:"cpu"`
	Wall float32 `json:"wall"`
	Late float32 `json:"late"` // that it began after its time
}

// Player is somebody in the match. The figures of the connection are those since the frame before; of who has none now they are 0.
type Player struct {
	Slot    int     `json:"slot"`
	Name    string  `json:"name"`
	Team    int     `json:"team"`
	X       float32 `json:"x"` // metres
	Y       float32 `json:"y"` // of the feet
	Z       float32 `json:"z"`
	Yaw     float32 `json:"yaw"`     // degrees: 0 looks along +z, 90 along +x
	Body    bool    `json:"body"`    // it is on the map: else the numbers above mean nothing
	Watches bool    `json:"watches"` // a spectator
	Alive   bool    `json:"alive"`
	Health  int     `json:"health"`

	Here     bool    `json:"here"`      // has a session
	RTT      float32 `json:"rtt"`       // ms
	Jitter   float32 `json:"jitter"`    // mean distance of a round trip from the mean one, ms
	LossDown float32 `json:"loss_down"` // of packages to it whose fate became known, %
	LossUp   float32 `json:"loss_up"`   // of packages from it that should have come, %
	Down     float32 `json:"down"`      // kbit/s of UDP payload
	Up       float32 `json:"up"`
	Buffer   int     `json:"buffer"`  // ticks of commands that wait
	Starved  float32 `json:"starved"` // of its ticks, those without its own command, %
	Missed   uint32  `json:"missed"`  // own rows that it had predicted otherwise, as it says itself, since it joined; who does not say has 0
	Mended   uint64  `json:"mended"`  // commands that the server changed or refused as they contradict themselves, since it joined
	Resyncs  uint64  `json:"resyncs"` // fresh starts for want of baselines, since it joined
}

// Vec is a point: x, y up, z; metres.
type Vec [3]float32

// Capsule is both ends of an axis and the radius: ax, ay, az, bx, by, bz, r; metres.
type Capsule [7]float32

// Body is somebody's capsules, by bone.
type Body []Capsule

// Ray is a shot's way.
type Ray struct {
	From Vec `json:"from"`
	To   Vec `json:"to"`
}

// Shot is one that hit: whom, and where the server rewound the victim to, beside where it stood at that moment.
type Shot struct {
	Ray
	Radius  float32 `json:"radius"` // of the ball that flew this way, and touched the bone when it was at To; metres
	Tick    uint64  `json:"tick"`
	Shooter int     `json:"shooter"` // slots
	Victim  int     `json:"victim"`
	Bone    string  `json:"bone"`
	Back    float32 `json:"back"` // how far the shooter's view lay back, ms
	Then    Body    `json:"then"` // in that view
	Now     Body    `json:"now"`
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
	Team  int    `json:"team"`  // 1 or 2: nothing to this team, a box to the other; 0: the same to all
}

// reset forgets what a frame holds and keeps its memory.
func (f *Frame) reset() {
	*f = Frame{Ticks: f.Ticks[:0], Stages: f.Stages[:0], Parts: f.Parts[:0], Players: f.Players[:0], Shots: f.Shots[:0], Rays: f.Rays[:0]}
}

// AddShot returns one more shot to fill, with the bodies that its memory last had, or nil if there are enough.
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

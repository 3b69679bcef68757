package ability

import "github.com/tickrate/tickrate/ecs/geom"

// ActionKind says what an action is.
type ActionKind uint8

// The actions.
const (
	// a round that arrives at once: Damage, Impulse, Range, Radius, Cone, Shot
	ActionShot       ActionKind = 1 + iota
	ActionProjectile            // Type flies off: Type, Range, Pitch
	ActionGrenade               // a grenade is thrown: Speed, Pitch
	ActionMelee                 // a punch lands: Damage, Impulse, Range, Radius
	ActionEmote                 // a gesture begins: Type
	ActionLaunch                // a rocket jump begins: call move.Launch before the tick's motion
)

// Action is one action of a tick. Fields that its kind does not name are 0.
type Action struct {
	Kind    ActionKind
	Slot    uint8      // of the hero's list
	Shot    uint8      // for Aim: how many shots of this player came before it in this tick
	Type    uint8      // a Projectile, or the number of a gesture, from 1
	Damage  int16      // points
	Cone    uint16     // half angle, 1/256 degree
	Pitch   geom.Angle // above the view
	Impulse float32    // m/s
	Range   float32    // metres
	Radius  float32    // metres
	Speed   float32    // m/s
}

// Actions is the result of one tick, at most one action a slot. Step fills all of it except List
// beyond Count.
type Actions struct {
	Count  uint8 // of List
	Began  uint8 // mask of slots that were switched on
	Ended  uint8 // mask of slots that were switched off
	Reload uint8 // mask of guns that began to reload
	Loaded uint8 // mask of guns whose clip is full again
	Sprint bool  // the feet sprint
	Move   bool  // the player may move; if not, MoveMag and Jump of the motion's input are to be 0
	List   [MaxSlots]Action
}

// All returns the actions of the tick; the slice is a's.
func (a *Actions) All() []Action { return a.List[:a.Count] }

func (a *Actions) add(does *Action) *Action {
	n := &a.List[a.Count&(MaxSlots-1)]
	*n = *does
	a.Count++
	return n
}

package sim

import (
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/content"
)

// Effects are the registered effects of the game, and what each presents.
func (k *CompiledGame) Effects() *content.EffectTable { return &k.game.Effects }

// SlotEffect is the effect of using an ability of a hero, 0 for none. Slot -1 is no ability.
func (k *CompiledGame) SlotEffect(hero uint8, slot int) content.EffectID {
	if t := k.Effects(); int(hero) < len(t.Abilities) && slot >= 0 && slot < ability.MaxSlots {
		return t.Abilities[hero][slot]
	}
	return 0
}

// RoundEffect is the hitscan effect of a hero's rounds: of its first gun with rounds.
func (k *CompiledGame) RoundEffect(hero uint8) content.EffectID {
	if int(hero) >= len(k.Heroes) {
		return 0
	}
	return k.SlotEffect(hero, k.Heroes[hero].RoundSlot())
}

// CommonRoundEffect is the hitscan effect of rounds whose shooter is hidden: that of all heroes with
// rounds, or 0 if they differ. An effect of one hero alone would tell which hero hides.
func (k *CompiledGame) CommonRoundEffect() (common content.EffectID) {
	found := false
	for i, hero := range k.Heroes {
		if hero.RoundSlot() < 0 {
			continue
		}
		id := k.RoundEffect(uint8(i))
		if found && id != common {
			return 0
		}
		common, found = id, true
	}
	return common
}

// ImpactEffect is the effect of a projectile's impact, and ExplosionEffect that of its explosion.
func (k *CompiledGame) ImpactEffect(projectile uint8) content.EffectID {
	return effectOf(k.Effects().Impacts, projectile)
}

func (k *CompiledGame) ExplosionEffect(projectile uint8) content.EffectID {
	return effectOf(k.Effects().Explosions, projectile)
}

func effectOf(ids []content.EffectID, i uint8) content.EffectID {
	if int(i) < len(ids) {
		return ids[i]
	}
	return 0
}

/** Numbers that follow from a seed, so that a run can be repeated as far as its timing allows. */
export interface Random {
  /** 0 to `below` - 1. */
  int(below: number): number;
  chance(probability: number): boolean;
  /** @throws Error if there are no items */
  pick<Item>(items: readonly Item[]): Item;
}

const MODULUS = 2_147_483_647;

export function seededRandom(seed: number): Random {
  let state = (Math.abs(seed) % (MODULUS - 1)) + 1;
  const next = () => {
    state = (state * 48_271) % MODULUS;
    return state / MODULUS;
  };
  // The first numbers of neighbouring seeds are similar.
  for (let index = 0; index < 10; index += 1) next();
  return {
    int: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[Math.floor(next() * items.length)] as (typeof items)[number];
    },
  };
}

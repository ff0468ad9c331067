import { fold } from '../../domain/fold.ts';
import type { Direction } from '../../domain/list-sort.ts';
import { all, join, type Sql, sql } from './sql.ts';
import { beyond, directed, type Source, type Step } from './steps.ts';

/** Something that belongs to a key: what the incidents of the key are found by. */
export interface Probe {
  key: string;
  value: string | number;
}

/** One way to find the incidents of keys: in `match`, each probe's value is `probe.value`, and folded `probe.folded`. */
interface Arm extends Source {
  type: 'text' | 'bigint';
  probes: readonly Probe[];
  match: Sql;
}

const TYPES = { text: sql`text[]`, bigint: sql`bigint[]` } as const;

/** Beyond every tie there is. */
const END = { asc: '0', desc: '9223372036854775807' } as const;

/**
 * In the order of some keys that the database does not know: statuses in the order of the workflow, say. Each key is looked
 * up by itself, for a page at most, so that all of it comes from an index; there are few of them.
 * @param keys in the order of the page
 */
export function probed(direction: Direction, keys: readonly string[], arms: readonly Arm[]): Step {
  const placeOf = new Map(keys.map((key, place) => [key, place]));
  return {
    keys: 1,
    order: sql`key_0, tie ${directed(direction)}`,
    statement({ conditions, after, limit }) {
      // A key that is no more begins this stretch again: better twice than never.
      const start = placeOf.get(String(after?.keys[0]));
      const boundOf = (place: number) => (place === start && after !== undefined ? String(after.tie) : END[direction]);
      const hits = arms.map(({ type, probes, match, from = sql`incidents as i`, where = [], tie = sql`i.id` }) => {
        const rows = probes
          .map(({ key, value }) => ({ place: placeOf.get(key) ?? -1, value }))
          .filter(({ place }) => place >= (start ?? 0));
        return sql`
          select hit.id, hit.tie, probe.place as key_0
          from unnest(${rows.map(({ place }) => place)}::integer[],
                      ${rows.map(({ place }) => boundOf(place))}::bigint[],
                      ${rows.map(({ value }) => value)}::${TYPES[type]},
                      ${rows.map(({ value }) => fold(String(value)))}::text[]) as probe(place, bound, value, folded)
          cross join lateral (
            select i.id, ${tie} as tie from ${from}
            where ${all([...conditions, ...where, match, sql`${tie} ${beyond(direction)} probe.bound`])}
            order by ${tie} ${directed(direction)}
            limit ${limit}) as hit`;
      });
      return sql`
        select id, tie, key_0 from (${join(hits, ' union all ')}) as hits
        order by key_0, tie ${directed(direction)}
        limit ${limit}`;
    },
    keysOf: ([place]) => [keys[Number(place)] ?? ''],
  };
}

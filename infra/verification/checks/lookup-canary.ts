import type { Environment } from '@tocsin/runtime';

/** What the check of look-ups must report, and what it must not. Nothing imports this file. */

type Level = 'low' | 'high';
type Levels = Readonly<Record<Level, number>>;
interface Table {
  levels: Levels;
  byName: Record<string, number>;
  optional?: Readonly<Record<string, Record<string, number>>>;
  partial: Partial<Record<string, () => void>>;
  env: Environment;
  list: readonly number[];
  map: ReadonlyMap<string, number>;
}

export function* lookUp<Name extends string>(table: Table, key: string, name: Name, level: Level): Generator {
  yield table.byName[key]; // look-up
  yield table.byName[`has${key}`]; // look-up
  yield table.byName[name]; // look-up
  yield table.optional?.['a']?.[key]; // look-up
  yield table.partial[key.toLowerCase()]?.(); // look-up
  yield table.env[key]; // look-up
  yield (table.levels as Readonly<Record<string, number>>)[key]; // look-up
  yield table.levels[key as Level]; // look-up
  yield Object.hasOwn(table.byName, name) ? table.byName[key] : 0; // look-up
  yield key in table.levels; // look-up
  const { [key]: amount } = table.byName; // look-up
  yield amount;
  table.byName[key] = 1; // look-up
  const asserted = key as keyof Levels; // look-up
  yield table.levels[asserted];
  const { level: given } = JSON.parse(key) as Record<string, unknown>;
  yield table.levels[given as Level]; // look-up

  yield table.levels[level];
  yield table.byName[level];
  yield table.byName['low'];
  yield table.byName[`GET ${key}`];
  yield 'low' in table.byName;
  yield table.list[key.length];
  yield table.map.get(key);
  yield key[0];
  yield Object.hasOwn(table.byName, key) ? table.byName[key] : 0;
  yield { [key]: 1 };
}

export const propertyOf = <Type>(object: Type, property: keyof Type) => object[property];

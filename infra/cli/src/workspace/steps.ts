import { z } from 'zod';
import type { Row } from '../output.ts';
import { visible } from '../visible.ts';
import type { ListName } from './document.ts';
import { isSame, KINDS } from './kinds.ts';

const row = z.record(z.string(), z.unknown());
const LISTS = [
  'users',
  'teams',
  'services',
  'fields',
  'webhooks',
  'destinations',
] as const satisfies readonly ListName[];

/** One write. */
const step = z.strictObject({
  action: z.enum(['create', 'change', 'restore', 'archive', 'add', 'remove', 'rotate']),
  /** `members` are those of `team`. */
  list: z.enum(['configuration', 'members', ...LISTS]),
  name: z.string(),
  team: z.string().optional(),
  /** What an update is based on; that of a create or a restore before it counts, too. */
  revision: z.int().optional(),
  /** What is written, with slugs and emails. */
  properties: row,
  changes: z.array(z.strictObject({ property: z.string(), from: z.unknown(), to: z.unknown() })),
  /** Properties that refer to what an earlier step makes, or `everything`: only the apply checks them. */
  unchecked: z.array(z.string()),
  place: z.string().optional(),
});

/** A plan as `--out` stores it, of version 1 of the format. It has no secrets. */
export const storedPlan = z.strictObject({
  format: z.literal(1),
  /** Random: idempotency keys are made of it. */
  id: z.string().regex(/^[\w-]{1,64}$/),
  installation_id: z.string(),
  workspace: z.strictObject({ id: z.int(), slug: z.string() }),
  steps: z.array(step),
});

export type Step = z.infer<typeof step>;
export type Plan = z.infer<typeof storedPlan>;

const SIGNS = { create: '+', add: '+', change: '~', rotate: '~', restore: '^', archive: '-', remove: '-' };
/** Characters of a value. */
const MAX_VALUE = 120;

/** `service checkout`, safe for terminals. */
export function nameOfStep({ list, name, team }: Step): string {
  if (list === 'configuration') return 'configuration';
  return visible(list === 'members' ? `member ${name} of team ${team ?? ''}` : `${KINDS[list].item} ${name}`);
}

export const verbOf = ({ action, list }: Step) => (action === 'archive' && list === 'webhooks' ? 'revoke' : action);

/** A step as a line, safe for terminals. */
export function lineOf(one: Step): string {
  const { action, changes, unchecked } = one;
  const differences = changes.flatMap(({ property, from, to }) => differencesOf(property, from, to)).join('; ');
  const head = `${SIGNS[action]} ${verbOf(one)} ${nameOfStep(one)}`;
  const later = unchecked.length === 0 ? '' : ` (${unchecked.join(', ')} checked at apply)`;
  return `${head}${differences === '' ? '' : `: ${visible(differences)}`}${later}`;
}

const shown = (value: unknown): string => {
  const characters = [...JSON.stringify(value)];
  return characters.length > MAX_VALUE ? `${characters.slice(0, MAX_VALUE).join('')}…` : characters.join('');
};

/** Lists of entries with keys are compared entry by entry. */
function differencesOf(property: string, from: unknown, to: unknown): string[] {
  const [before, after] = [entriesOf(from), entriesOf(to)];
  if (before === undefined || after === undefined)
    return isSame(from, to) ? [] : [`${property.replace(/_env$/, '')} ${shown(from)} → ${shown(to)}`];
  const lines = [...before.keys()].filter((key) => !after.has(key)).map((key) => `${property} without ${shown(key)}`);
  for (const [key, value] of after) {
    const old = before.get(key);
    if (old === undefined) lines.push(`${property} with ${shown(value)}`);
    else if (!isSame(old, value)) lines.push(`${property} ${shown(old)} → ${shown(value)}`);
  }
  return lines.length > 0 ? lines : [`${property} in another order`];
}

function entriesOf(value: unknown): Map<unknown, unknown> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const entries = value.map(
    (entry: Row | null) => [entry?.['key'] ?? entry?.['name'] ?? entry?.['currency'], entry] as const,
  );
  return entries.every(([name]) => typeof name === 'string') ? new Map(entries) : undefined;
}

/** What changes from one state to another. */
export const changesOf = (properties: readonly string[], from: Row, to: Row) =>
  properties
    .filter((property) => !isSame(from[property], to[property]))
    .map((property) => ({ property, from: from[property] ?? null, to: to[property] ?? null }));

const isRemoval = ({ action }: Step) => action === 'archive' || action === 'remove';

/** Removals come first in print, and last in the order of the steps. */
export const inPrint = (steps: readonly Step[]): Step[] =>
  steps.toSorted((one, other) => Number(isRemoval(other)) - Number(isRemoval(one)));

import { type Tocsin, TocsinError } from '@tocsin/sdk';
import { messageOf } from '../describe-error.ts';
import type { Row } from '../output.ts';
import { hasIds, KINDS, keyOf, listsOf, pick } from './kinds.ts';
import { inParallel, isLack, type Present, statedIn } from './present.ts';
import { currentOf, send } from './send.ts';
import { changesOf, nameOfStep, type Step } from './steps.ts';

const EVERYTHING = ['everything'];

/**
 * Asks the server what it would say of each step (`validate_only`). A change that is none for the server is left out, and
 * the others are as the server would store them. What refers to something that an earlier step makes is left out of the
 * request, and named in `unchecked`.
 * @param mayLack whether the key may lack the rights to write: what it cannot ask for stays unchecked as a whole
 * @returns the steps, a line for each refusal, and which rights the key lacks
 */
export async function checkSteps(
  tocsin: Tocsin,
  drafts: readonly Step[],
  { present, mayLack, signal }: { present: Present; mayLack: boolean; signal: AbortSignal },
) {
  const findUnchecked = uncheckedIn(drafts, present);
  const checked: (Step | undefined)[] = [...drafts];
  const refusals: string[] = [];
  const lacking = new Set<string>();
  await inParallel([...drafts.entries()], async ([index, step]) => {
    try {
      checked[index] = await checkStep(tocsin, { ...step, unchecked: findUnchecked(step) }, present, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (mayLack && isLack(error)) {
        lacking.add(error.message);
        checked[index] = { ...step, unchecked: EVERYTHING };
      } else refusals.push(`${step.place ?? ''} ${nameOfStep(step)}: ${messageOf(error)}`.trim());
    }
  });
  return { steps: checked.filter((step) => step !== undefined), refusals, lacking };
}

/** Whether the server has understood a request, and has not carried it out. */
export const isRefusal = (error: unknown): error is TocsinError =>
  error instanceof TocsinError && [400, 403, 404, 409, 412].includes(error.status ?? 0);

async function checkStep(tocsin: Tocsin, step: Step, present: Present, signal: AbortSignal): Promise<Step | undefined> {
  const { unchecked, action, list, changes } = step;
  const names = Object.keys(step.properties).filter((name) => !unchecked.includes(name));
  if (unchecked === EVERYTHING || (action === 'change' && names.length === 0)) return step;
  const checked = { ...step, properties: pick(step.properties, names) };
  const reply = await send(tocsin, present, checked, { signal, validateOnly: true });
  if (action !== 'change' || list === 'members') return step;
  const item = list === 'configuration' ? list : KINDS[list].item;
  const after = reply[item] as Row;
  const current = currentOf(present, step) ?? {};
  if (after['revision'] === current['revision'] && unchecked.length === 0) return undefined;
  const of = (row: Row) =>
    list === 'configuration' ? listsOf(row, hasIds(step.properties)) : statedIn(present, KINDS[list], row);
  const later = changes.filter(({ property }) => unchecked.includes(property) || property === 'replace');
  return { ...step, changes: [...changesOf(names, of(current), of(after)), ...later] };
}

/** What cannot be checked of a step before those before it are carried out. */
function uncheckedIn(steps: readonly Step[], present: Present): (step: Step) => string[] {
  const idOf = (list: string, name: string) =>
    `${list} ${list === 'configuration' ? '' : keyOf(list as 'teams', name)}`;
  const createdIds = new Set<string>();
  /** The parents that teams will have. */
  const moved = new Map<string, unknown>();
  for (const { action, list, name, properties } of steps) {
    if (action === 'create' || action === 'restore') createdIds.add(idOf(list, name));
    if (list === 'teams' && properties['parent'] !== undefined) moved.set(idOf(list, name), properties['parent']);
  }
  const isMade = (list: string, name: unknown) => typeof name === 'string' && createdIds.has(idOf(list, name));
  /** Whether a team or one above it is made or moved. */
  const isTouched = (name: unknown): boolean => {
    if (typeof name !== 'string') return false;
    if (isMade('teams', name) || moved.has(idOf('teams', name))) return true;
    const row = present.rows.teams.get(keyOf('teams', name));
    return row !== undefined && isTouched(statedIn(present, KINDS.teams, row)['parent']);
  };
  const configuration = steps.find(({ list }) => list === 'configuration')?.properties;
  const tiers = new Set(present.configuration?.service_tiers.map(({ key }) => key));
  return ({ action, list, name, team, properties }) => {
    if (list === 'members') return isMade('teams', team) || isMade('users', name) ? EVERYTHING : [];
    if (list === 'configuration' || action === 'archive') return [];
    if (action === 'change' && isMade(list, name)) return EVERYTHING;
    const row = present.rows[list].get(keyOf(list, name));
    const references = Object.keys(KINDS[list].references);
    if (action === 'restore' && row !== undefined) {
      const stated = statedIn(present, KINDS[list], row);
      return references.some((property) => isMade('teams', stated[property])) ? EVERYTHING : [];
    }
    if (list === 'destinations') {
      const { recipients = [], filters = {} } = properties as { recipients?: string[]; filters?: { teams?: string[] } };
      if (recipients.some((email) => isMade('users', email))) return EVERYTHING;
      return filters.teams?.some((slug) => isMade('teams', slug)) === true ? ['filters'] : [];
    }
    const late = references.filter((property) =>
      property === 'parent' ? isTouched(properties['parent']) : isMade('teams', properties[property]),
    );
    const { tier } = properties;
    const isNewTier = typeof tier === 'string' && configuration?.['service_tiers'] !== undefined && !tiers.has(tier);
    return isNewTier ? [...late, 'tier'] : late;
  };
}

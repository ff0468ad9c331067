import type { Row } from '../output.ts';
import type { ListName } from './document.ts';
import type { Desired, Entry } from './desired.ts';
import { hasIds, isSame, KINDS, keyOf, listsOf, originOf, pick } from './kinds.ts';
import { type Present, secretIn, shownOf, statedIn } from './present.ts';
import { changesOf, type Step } from './steps.ts';

/** The lists that can be pruned. */
export const PRUNABLE = ['members', 'services', 'teams', 'fields', 'webhooks', 'destinations'] as const;
export type Prunable = (typeof PRUNABLE)[number];

export interface Limits {
  prune: ReadonlySet<Prunable>;
  onlyTag?: string | undefined;
  onlyExternalId?: string | undefined;
  /** Keys of webhooks whose secret an interrupted run has lost. */
  lostSecrets: ReadonlySet<string>;
}

/** Whether something belongs to the part that is named; undefined if the limit is not about its kind. */
export function isOwn(list: ListName, row: Row, { onlyTag, onlyExternalId }: Limits): boolean | undefined {
  if (onlyTag !== undefined && list === 'services')
    return (row['tags'] as string[] | undefined)?.includes(onlyTag) ?? false;
  if (onlyExternalId !== undefined && KINDS[list].isArchived)
    return (row['external_id'] as string | null | undefined)?.startsWith(onlyExternalId) ?? false;
  return undefined;
}

/** The steps from the present to what is desired, in the order of references. Mistakes are added to the list. */
export function compare(desired: Desired, present: Present, limits: Limits, mistakes: string[]): Step[] {
  checkReferences(desired, present, mistakes);
  const steps = (list: ListName) =>
    [...desired.entries[list].values()].flatMap((entry) => stepsOf(entry, present, limits, mistakes));
  const teams = parentsFirst(desired, present);
  const removed = (list: ListName) =>
    limits.prune.has(list as Prunable) ? removalsOf(list, desired, present, limits) : [];
  return [
    ...configurationSteps(desired, present),
    ...steps('users'),
    ...teams.flatMap((entry) => stepsOf(entry, present, limits, mistakes)),
    ...teams.flatMap((entry) => memberSteps(entry, present, false)),
    ...steps('services'),
    ...steps('fields'),
    ...steps('webhooks'),
    ...steps('destinations'),
    ...(['destinations', 'webhooks', 'fields', 'services'] as const).flatMap(removed),
    ...(limits.prune.has('members') ? teams.flatMap((entry) => memberSteps(entry, present, true)) : []),
    ...removed('teams'),
  ];
}

function configurationSteps({ configuration, configurationPlace: place }: Desired, present: Present): Step[] {
  const before: Row = { ...present.configuration };
  const from = listsOf(before, hasIds(configuration));
  const changes = changesOf(Object.keys(configuration), from, listsOf(configuration, hasIds(configuration)));
  const lists = changed(configuration, changes);
  const revision = present.configuration?.revision;
  if (changes.length === 0) return [];
  const replace = replacementsOf(configuration, before, lists);
  const isReplaced = Object.keys(replace).length > 0;
  if (isReplaced) changes.push({ property: 'replace', from: null, to: replace });
  const properties = { ...lists, ...(isReplaced && { replace }) };
  return [{ action: 'change', list: 'configuration', name: '', revision, properties, changes, unchecked: [], place }];
}

/** The replacements of keys that a change removes: the API takes no others, and a file may keep them. */
function replacementsOf({ replace }: Row, before: Row, after: Row): Row {
  const stated = (replace ?? {}) as Record<string, Record<string, string> | undefined>;
  const keysOf = (list: unknown) => new Set((list as { key: string }[] | undefined)?.map(({ key }) => key));
  const lists = { statuses: 'workflow_statuses', severities: 'severities' };
  const removed = Object.entries(lists).map(([name, list]) => {
    const [old, kept] = [keysOf(before[list]), keysOf(after[list] ?? before[list])];
    return [name, Object.entries(stated[name] ?? {}).filter(([key]) => old.has(key) && !kept.has(key))] as const;
  });
  return Object.fromEntries(
    removed.filter(([, pairs]) => pairs.length > 0).map(([name, pairs]) => [name, Object.fromEntries(pairs)]),
  );
}

const changed = (properties: Row, changes: Step['changes']) =>
  pick(
    properties,
    changes.map(({ property }) => property),
  );

function stepsOf(entry: Entry, present: Present, limits: Limits, mistakes: string[]): Step[] {
  const { kind, key, name, properties, placeOf } = entry;
  const { list, item, permanent, required, later } = kind;
  const step = { list, name, properties: {}, changes: [], unchecked: [], place: placeOf() } satisfies Partial<Step>;
  const row = present.rows[list].get(key);
  const refuse = (message: string, ...path: string[]) => {
    mistakes.push(`${placeOf(...path)}: ${message}`);
    return [];
  };
  if (row !== undefined && isOwn(list, row, limits) === false)
    return refuse(
      `Is not of the part that the command is limited to: run it once without the limit to take the ${item} over`,
    );
  if (isOwn(list, { ...row, ...properties }, limits) === false)
    return refuse('Must have the tag or external ID that the command is limited to');
  if (row === undefined) {
    const missing = required.filter((property) => properties[property] === undefined);
    if (missing.length > 0) return refuse(`${missing.join(' and ')}: Is required for a new ${item}`);
    checkSecrets(entry, present, mistakes);
    const names = Object.keys(properties).filter((property) => !later.includes(property));
    const create: Step = { ...step, action: 'create', properties: pick(properties, names) };
    const laterProperties = pick(properties, later);
    const changes = changesOf(Object.keys(laterProperties), { active: true }, laterProperties);
    return changes.length === 0
      ? [create]
      : [create, { ...step, action: 'change', revision: 1, properties: laterProperties, changes }];
  }
  if (list === 'webhooks') {
    if (present.ambiguous.has(key)) return refuse('Several webhooks have this name: revoke all but one');
    if (properties['url'] !== undefined && originOf(properties['url']) !== originOf(row['url']))
      return refuse(`Cannot be changed from ${originOf(row['url'])}: give the new one another name`, 'url');
    for (const property of ['event_types', 'include_restricted'])
      if (!isSame(properties[property] ?? row[property], row[property]))
        return refuse('Cannot be changed: give the new one another name', property);
    return limits.lostSecrets.has(key) ? [{ ...step, action: 'rotate' }] : [];
  }
  const from = statedIn(present, kind, row);
  const shown = shownOf(present, kind, properties);
  const changes = changesOf(Object.keys(shown), from, shown);
  const fixed = changes.find(({ property }) => permanent.includes(property));
  if (fixed !== undefined) return refuse(`Cannot be changed from ${JSON.stringify(fixed.from)}`, fixed.property);
  const isArchived = row['archived_at'] !== undefined;
  const revision = row['revision'] as number;
  const restore: Step = { ...step, action: 'restore', revision };
  const base = revision + Number(isArchived);
  const names = new Set(changes.map(({ property }) => property));
  // Another host gets the credential, too.
  if (names.has('url_env')) names.add('credential_env');
  const written = pick(properties, [...names]);
  checkSecrets({ ...entry, properties: written }, present, mistakes);
  const change: Step = { ...step, action: 'change', revision: base, properties: written, changes };
  return [...(isArchived ? [restore] : []), ...(changes.length > 0 ? [change] : [])];
}

/** Secrets that are written must be in the environment. */
function checkSecrets({ kind, properties, placeOf }: Entry, { env }: Present, mistakes: string[]): void {
  for (const name of Object.keys(kind.secrets).filter((property) => property in properties)) {
    const secret = secretIn(env, properties[name]);
    if (secret === undefined)
      mistakes.push(`${placeOf(name)}: There is no environment variable ${String(properties[name])}`);
    else if (name === 'url_env' && !URL.canParse(secret))
      mistakes.push(`${placeOf(name)}: Must name an environment variable with a URL`);
  }
}

/** The steps of the members of a team: of those that the document has, or of those that it does not have. */
function memberSteps(
  { members, hasMembers, key, name: team, placeOf }: Entry,
  present: Present,
  isPruned: boolean,
): Step[] {
  const current = present.members.get(key);
  const common = { list: 'members' as const, team, unchecked: [] };
  if (isPruned) {
    const kept = new Set(members.map(({ email }) => keyOf('users', email)));
    const gone = hasMembers ? [...(current ?? [])].filter(([user]) => !kept.has(user)) : [];
    return gone.map(([, { email, role }]) => ({
      ...{ ...common, action: 'remove', name: email as string, properties: { role }, changes: [] },
    }));
  }
  return members.flatMap(({ email: name, role }, index): Step[] => {
    const from = current?.get(keyOf('users', name));
    const properties = { role: role ?? (from?.['role'] as string | undefined) ?? 'member' };
    const changes = changesOf(['role'], from ?? {}, properties);
    const action = from === undefined ? 'add' : 'change';
    return changes.length === 0
      ? []
      : [{ ...common, action, name, properties, changes, place: placeOf('members', index) }];
  });
}

/** What no document names is archived; of teams the lower ones first. */
function removalsOf(list: ListName, desired: Desired, present: Present, limits: Limits): Step[] {
  const rows = [...present.rows[list]].filter(
    ([key, row]) =>
      row['archived_at'] === undefined && !desired.entries[list].has(key) && isOwn(list, row, limits) !== false,
  );
  const byId = new Map([...present.rows.teams.values()].map((row) => [row['id'], row]));
  const depth = (row: Row | undefined): number => (row === undefined ? 0 : 1 + depth(byId.get(row['parent_team_id'])));
  const { identity } = KINDS[list];
  const sorted = list === 'teams' ? rows.toSorted(([, one], [, other]) => depth(other) - depth(one)) : rows;
  return sorted.map(([, row]) => ({
    ...{ action: 'archive', list, name: row[identity] as string, revision: row['revision'] as number | undefined },
    ...{ properties: {}, changes: [], unchecked: [] },
  }));
}

/** Teams and users must be in the documents or in the workspace, and parents form no cycle. */
function checkReferences({ entries }: Desired, { rows }: Present, mistakes: string[]): void {
  const isThere = (list: ListName, name: unknown) =>
    [entries[list], rows[list]].some((all) => all.has(keyOf(list, name as string)));
  for (const { kind, properties, members, placeOf } of [...entries.teams.values(), ...entries.services.values()]) {
    for (const name of Object.keys(kind.references)) {
      const slug = properties[name];
      if (typeof slug === 'string' && !isThere('teams', slug))
        mistakes.push(`${placeOf(name)}: There is no team ${slug}`);
    }
    for (const [index, { email }] of members.entries())
      if (!isThere('users', email)) mistakes.push(`${placeOf('members', index, 'email')}: There is no user ${email}`);
  }
  for (const { properties, placeOf } of entries.destinations.values())
    for (const [index, slug] of ((properties['filters'] as { teams?: string[] } | undefined)?.teams ?? []).entries())
      if (!isThere('teams', slug)) mistakes.push(`${placeOf('filters', 'teams', index)}: There is no team ${slug}`);
  for (const { key, placeOf } of entries.teams.values()) {
    const above = new Set<string>();
    let next = entries.teams.get(key);
    while (next !== undefined && !above.has(next.key)) {
      above.add(next.key);
      const { parent } = next.properties;
      next = typeof parent === 'string' ? entries.teams.get(keyOf('teams', parent)) : undefined;
    }
    if (next?.key === key) mistakes.push(`${placeOf('parent')}: Makes a cycle`);
  }
}

/** The teams of the documents, each behind those above it, in the present and in what is desired. */
function parentsFirst({ entries: { teams } }: Desired, present: Present): Entry[] {
  const sorted = new Set<Entry>();
  const begun = new Set<string>();
  const visit = (key: string) => {
    const entry = teams.get(key);
    if (entry === undefined || begun.has(key)) return;
    begun.add(key);
    const row = present.rows.teams.get(key);
    const stated = row === undefined ? {} : statedIn(present, KINDS.teams, row);
    const isMoved = row?.['archived_at'] === undefined && entry.properties['parent'] !== undefined;
    for (const parent of [entry.properties['parent'], isMoved ? null : stated['parent']])
      if (typeof parent === 'string') visit(keyOf('teams', parent));
    sorted.add(entry);
  };
  for (const key of teams.keys()) visit(key);
  return [...sorted];
}

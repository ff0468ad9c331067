import { type Configuration, type Tocsin, TocsinError } from '@tocsin/sdk';
import type { Environment } from '../contexts.ts';
import type { Row } from '../output.ts';
import type { Session } from '../session.ts';
import type { ListName } from './document.ts';
import { emptyLists, type Kind, KINDS, keyOf, originOf, propertiesOf, resourceOf } from './kinds.ts';

/** Rows of a page, and requests at the same time. */
const PAGE = 100;
const AT_ONCE = 6;

/** What a plan is for. */
export interface Place {
  installation_id: string;
  workspace: { id: number; slug: string };
}

/** What a workspace has at present, by keys; archived resources too. Lists that nobody asked for are empty. */
export interface Present extends Place {
  configuration: Configuration | undefined;
  rows: Readonly<Record<ListName, Map<string, Row>>>;
  /** By their IDs. */
  teamSlugs: Map<unknown, string>;
  /** Members of the teams that were asked for, by the key of the team and that of the user. */
  members: Map<string, Map<string, Row>>;
  /** Names that several webhooks have. */
  ambiguous: Set<string>;
  /** Why lists were not read, of those that the key could not read. */
  unread: ReadonlyMap<ListName, string>;
  /** Has the secrets that files name. */
  env: Environment;
}

export interface Wanted {
  configuration: boolean;
  lists: ReadonlySet<ListName>;
  /** Keys of teams, or all of them. */
  members: ReadonlySet<string> | 'all';
  /** Whether lists that nobody only reads are left out if the key may not read them: that takes the right to change them. */
  mayLack?: boolean;
}

/** Reads what is wanted. Services and destinations come with teams, and members with users. */
export async function readPresent(
  tocsin: Tocsin,
  wanted: Wanted,
  { signal, env }: Pick<Session, 'signal' | 'env'>,
): Promise<Present> {
  const lists = new Set(wanted.lists);
  if (lists.has('services') || lists.has('destinations')) lists.add('teams');
  if (wanted.members === 'all' ? lists.has('teams') : wanted.members.size > 0) lists.add('teams').add('users');
  const rows = emptyLists<Row>();
  const ambiguous = new Set<string>();
  const unread = new Map<ListName, string>();
  const read = async (kind: Kind) => {
    const { list, identity, isArchived } = kind;
    const query = { limit: PAGE, ...(isArchived && { include_archived: true }) };
    const all = WHOLE_LISTS.get(list)?.(tocsin, signal) ?? resourceOf(tocsin, kind).list(query, { signal });
    for await (const row of all) {
      const key = keyOf(list, row[identity] as string);
      if (rows[list].has(key)) ambiguous.add(key);
      rows[list].set(key, row);
    }
  };
  const [me, configuration] = await Promise.all([
    tocsin.me.get({ signal }),
    wanted.configuration ? tocsin.configuration.get({ signal }) : undefined,
    ...[...lists].map(async (name) =>
      read(KINDS[name]).catch((error: unknown) => {
        if (!WHOLE_LISTS.has(name) || wanted.mayLack !== true || !isLack(error)) throw error;
        unread.set(name, error.message);
      }),
    ),
  ]);
  const teams = [...rows.teams];
  const asked = teams.filter(([key, { archived_at: archivedAt }]) =>
    wanted.members === 'all' ? archivedAt === undefined : wanted.members.has(key),
  );
  const members = new Map<string, Map<string, Row>>();
  await inParallel(asked, async ([key, team]) => {
    const membersOfTeam = new Map<string, Row>();
    if (team['member_count'] !== 0)
      for await (const member of tocsin.teams.listMembers(team['id'] as number, { limit: PAGE }, { signal }))
        membersOfTeam.set(keyOf('users', member.email), { ...member });
    members.set(key, membersOfTeam);
  });
  const { installation_id, workspace } = me;
  return {
    ...{ installation_id, workspace: { id: workspace.id, slug: workspace.slug }, rows, members, ambiguous },
    teamSlugs: new Map(teams.map(([, { id, slug }]) => [id, slug as string])),
    ...{ configuration: configuration?.configuration, unread, env },
  };
}

/** Whether a key has no right to what was requested, whatever it is. */
export const isLack = (error: unknown): error is TocsinError =>
  error instanceof TocsinError &&
  ['missing_scope', 'responder_seat_required', 'missing_role_permission'].includes(error.code);

/** Those that have a name, and are not revoked. */
async function* webhooksOf(tocsin: Tocsin, signal: AbortSignal): AsyncGenerator<Row> {
  for (const row of (await tocsin.webhooks.list({ signal })).webhooks)
    if (row.name !== null && row.status !== 'revoked') yield { ...row };
}

/** Those that are not archived, without that. */
async function* destinationsOf(tocsin: Tocsin, signal: AbortSignal): AsyncGenerator<Row> {
  for (const { archived_at: _, ...row } of (await tocsin.destinations.list({ signal })).destinations) yield row;
}

/** Lists that have no pages, and that no scope only reads. */
const WHOLE_LISTS = new Map<ListName, typeof webhooksOf>([
  ['webhooks', webhooksOf],
  ['destinations', destinationsOf],
]);

/** Does the same with each, some at the same time. */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const one = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Lists of texts by the names of filters. */
type Filters = Readonly<Record<string, readonly string[] | undefined>>;
type FiltersOfApi = Filters & { team_ids?: readonly number[] };

/** What stands for a property without a value. */
const EMPTY: Row = { tags: [], observability_names: [] };

/** A resource with the properties of a document; secrets are as `shownOf` has them. */
export function statedIn({ teamSlugs }: Present, kind: Kind, row: Row): Row {
  const values = propertiesOf(kind).map((name) => {
    if (name === 'url_env') return [name, row['url']];
    if (name === 'credential_env') return [name, row['has_credential']];
    if (name === 'filters') {
      const { team_ids: ids = [], ...filters } = (row[name] ?? {}) as FiltersOfApi;
      return [name, filtersOf({ ...filters, teams: ids.map((id) => teamSlugs.get(id) ?? String(id)) })];
    }
    const reference = kind.references[name];
    const value = reference === undefined ? row[name] : teamSlugs.get(row[reference]);
    return [name, value ?? EMPTY[name] ?? null];
  });
  return Object.fromEntries(values) as Row;
}

/** What a document says of filters, without those that select all. */
const filtersOf = (filters: Filters): Row =>
  Object.fromEntries(Object.entries(filters).filter(([, values]) => values !== undefined && values.length > 0));

/**
 * Properties of a document, to be compared with `statedIn`: of secrets what the API shows of them. Those that the
 * environment does not have are left out.
 */
export function shownOf({ env }: Present, kind: Kind, properties: Row): Row {
  const values = Object.entries(properties).flatMap(([name, value]) => {
    if (name === 'filters') return [[name, filtersOf(value as Filters)]];
    if (kind.secrets[name] === undefined) return [[name, value]];
    const secret = secretIn(env, value);
    if (secret === undefined) return [];
    return [[name, name === 'url_env' ? originOf(secret) : true]];
  });
  return Object.fromEntries(values) as Row;
}

/** The value of an environment variable. An empty one is none: a job gets that if it has no right to the secret. */
export function secretIn(env: Environment, variable: unknown): string | undefined {
  const value = Object.hasOwn(env, String(variable)) ? env[String(variable)] : undefined;
  return value === '' ? undefined : value;
}

/** Properties of a document with IDs and secrets, as the API takes them. */
export function bodyOf({ rows, env }: Present, kind: Kind, properties: Row): Row {
  const teamId = (slug: unknown) => rows.teams.get(keyOf('teams', slug as string))?.['id'];
  const values = Object.entries(properties).map(([name, value]) => {
    const [reference, secret] = [kind.references[name], kind.secrets[name]];
    if (secret !== undefined) return [secret, secretIn(env, value)];
    if (name === 'filters') {
      const { teams = [], ...filters } = value as Filters;
      return [name, { ...filters, team_ids: teams.map(teamId) }];
    }
    if (reference === undefined) return [name, value];
    return [reference, value === null ? null : teamId(value)];
  });
  return Object.fromEntries(values) as Row;
}

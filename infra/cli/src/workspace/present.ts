import { type Configuration, type Tocsin, TocsinError } from '@tocsin/sdk';
import type { Row } from '../output.ts';
import type { ListName } from './document.ts';
import { type Kind, KINDS, keyOf, propertiesOf, resourceOf } from './kinds.ts';

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
  /** Why the webhooks were not read, if the key could not. */
  unreadWebhooks?: string;
}

export interface Wanted {
  configuration: boolean;
  lists: ReadonlySet<ListName>;
  /** Keys of teams, or all of them. */
  members: ReadonlySet<string> | 'all';
  /** Whether the webhooks are left out if the key may not read them: that takes the right to change them. */
  mayLack?: boolean;
}

/** Reads what is wanted. Services come with teams, and members with users. */
export async function readPresent(tocsin: Tocsin, wanted: Wanted, signal: AbortSignal): Promise<Present> {
  const lists = new Set(wanted.lists);
  if (lists.has('services')) lists.add('teams');
  if (wanted.members === 'all' ? lists.has('teams') : wanted.members.size > 0) lists.add('teams').add('users');
  const rows = { users: new Map(), teams: new Map(), services: new Map(), fields: new Map(), webhooks: new Map() };
  const ambiguous = new Set<string>();
  let unreadWebhooks: string | undefined;
  const read = async (kind: Kind) => {
    const { list, identity, isArchived } = kind;
    const query = { limit: PAGE, ...(isArchived && { include_archived: true }) };
    const all = list === 'webhooks' ? webhooksOf(tocsin, signal) : resourceOf(tocsin, kind).list(query, { signal });
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
        if (name !== 'webhooks' || wanted.mayLack !== true || !isLack(error)) throw error;
        unreadWebhooks = error.message;
      }),
    ),
  ]);
  const teams = [...(rows.teams as Map<string, Row>)];
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
    configuration: configuration?.configuration,
    ...(unreadWebhooks !== undefined && { unreadWebhooks }),
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

/** Does the same with each, some at the same time. */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const one = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** What stands for a property without a value. */
const EMPTY: Row = { tags: [], observability_names: [] };

/** A resource with the properties of a document. */
export function statedIn({ teamSlugs }: Present, kind: Kind, row: Row): Row {
  const values = propertiesOf(kind).map((name) => {
    const reference = kind.references[name];
    const value = reference === undefined ? row[name] : teamSlugs.get(row[reference]);
    return [name, value ?? EMPTY[name] ?? null];
  });
  return Object.fromEntries(values) as Row;
}

/** Properties of a document with IDs, as the API takes them. */
export function bodyOf(present: Present, kind: Kind, properties: Row): Row {
  const values = Object.entries(properties).map(([name, value]) => {
    const reference = kind.references[name];
    if (reference === undefined) return [name, value];
    return [reference, value === null ? null : present.rows.teams.get(keyOf('teams', value as string))?.['id']];
  });
  return Object.fromEntries(values) as Row;
}

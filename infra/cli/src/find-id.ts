import type { CallOptions, Tocsin } from '@tocsin/sdk';
import { UsageError } from './operation-parameters.ts';
import type { Row } from './output.ts';

/** Rows of a list that are compared at most. */
const MOST_ROWS = 10_000;
/** Candidates that a message names. */
const SHOWN = 10;
/** Characters of `q`; a user's name may have more. */
const MOST_SEARCHED = 200;

type Rows = Iterable<Row> | AsyncIterable<Row>;
type Lookup = (tocsin: Tocsin, text: string, options: CallOptions) => Rows | Promise<Rows>;

/** How people call the resources of a kind. */
interface Kind {
  noun: string;
  id?: RegExp;
  /** By the property that names a resource, the first that has the text wins. The rows may include others. */
  lookups: Readonly<Record<string, Lookup>>;
}

const listOf =
  (resource: 'services' | 'teams' | 'customFields', property: 'slug' | 'name'): Lookup =>
  (tocsin, text, options) =>
    // A shell may pass another normalization form than slugs have.
    tocsin[resource].list(
      { [property]: property === 'slug' ? text.normalize('NFC') : text, include_archived: true },
      options,
    ) as AsyncIterable<Row>;
const bySlugOrName = (resource: 'services' | 'teams' | 'customFields') => ({
  slug: listOf(resource, 'slug'),
  name: listOf(resource, 'name'),
});
const searchUsers: Lookup = (tocsin, text, options) =>
  tocsin.users.list({ q: text.slice(0, MOST_SEARCHED) }, options) as AsyncIterable<Row>;
const allKeys: Lookup = (tocsin, _, options) => tocsin.apiKeys.list({}, options) as AsyncIterable<Row>;

const KINDS = {
  incident: {
    noun: 'incident',
    lookups: {
      reference: async (tocsin, text, options) => {
        if (!/^[a-z]+-\d+$/i.test(text)) return [];
        try {
          const { incident } = await tocsin.incidents.getByReference(text, options);
          return [{ ...incident, reference: incident.human_id }];
        } catch (error) {
          if ((error as { code?: unknown }).code === 'not_found') return [];
          throw error;
        }
      },
    },
  },
  service: { noun: 'service', lookups: bySlugOrName('services') },
  team: { noun: 'team', lookups: bySlugOrName('teams') },
  field: { noun: 'custom field', lookups: bySlugOrName('customFields') },
  user: { noun: 'user', lookups: { email: searchUsers, name: searchUsers } },
  key: { noun: 'API key', lookups: { prefix: allKeys, name: allKeys } },
  webhook: {
    noun: 'webhook',
    id: /^wh_/,
    lookups: { name: async (tocsin, _, options) => (await tocsin.webhooks.list(options)).webhooks as unknown as Row[] },
  },
} satisfies Record<string, Kind>;

type ResourceKind = keyof typeof KINDS;

/** Finds what a person means. @param what the argument or flag, for messages */
type Find = (tocsin: Tocsin, typed: { text: string; what: string; signal: AbortSignal }) => Promise<string>;

/** How a parameter is typed. */
export interface Finder {
  /** What may be typed: `ID, slug or name`. */
  words: string;
  find: Find;
}

const finderOf = (kind: ResourceKind): Finder => ({
  words: ['ID', ...Object.keys(KINDS[kind].lookups)].join(', ').replace(/, (?=[^,]*$)/, ' or '),
  find: async (tocsin, typed) => findId(tocsin, kind, typed),
});

export const findIncident = finderOf('incident').find;

/** The kind of a parameter of a path, by the segment before it. */
const KIND_OF_SEGMENT: Readonly<Record<string, ResourceKind>> = {
  ...{ incidents: 'incident', services: 'service', teams: 'team', 'custom-fields': 'field' },
  ...{ members: 'user', users: 'user', 'api-keys': 'key', webhooks: 'webhook' },
};

/** How a parameter of a path is typed; undefined: as it is. */
export function argumentFinder(path: string, name: string): Finder | undefined {
  const kind = KIND_OF_SEGMENT[path.split('/').find((_, index, all) => all[index + 1] === `{${name}}`) ?? ''];
  return kind && finderOf(kind);
}

/** How a property, or a parameter of a query, is typed if it names resources; undefined: as it is. */
export function inputFinder(name: string): Finder | undefined {
  if (name === 'resource') return { words: 'such as incident:INC-12 or service:checkout', find: findResource };
  if (/^(?:owner|incident_manager|incident_responders)$/.test(name)) return finderOf('user');
  const kind = /(?:^|_)(incident|team|user|key)_id$/.exec(name)?.[1];
  return kind === undefined ? undefined : finderOf(kind as ResourceKind);
}

/** A resource of the event feed: `incident:12` for `incident:INC-12`. */
export const findResource: Find = async (tocsin, { text, ...typed }) => {
  const [, name = '', reference = ''] = /^(incident|service|team|custom_field):(.*)$/s.exec(text) ?? [];
  const kind = name === 'custom_field' ? 'field' : name;
  return kind in KINDS ? `${name}:${await findId(tocsin, kind as ResourceKind, { ...typed, text: reference })}` : text;
};

/** Ended and archived ones count only if no other has the name. */
const isEnded = (row: Row) =>
  row['active'] === false ||
  row['status'] === 'revoked' ||
  [row['archived_at'], row['revoked_at']].some((value) => typeof value === 'string');

/** Addresses and references mean the same in any case of letters. */
const comparable = (property: string, text: string) =>
  property === 'email' || property === 'reference' ? text.toLowerCase() : text.normalize('NFC');

/**
 * The ID of the resource that a person means: IDs as they are, otherwise by slug, name, email address or reference.
 * @throws UsageError if several have the name, and Error if none has it
 */
async function findId(tocsin: Tocsin, kind: ResourceKind, typed: Parameters<Find>[1]): Promise<string> {
  const { text, what, signal } = typed;
  const { noun, id = /^\d+$/, lookups }: Kind = KINDS[kind];
  if (id.test(text)) return text;
  if (text.trim() === '') throw new UsageError(`${what}: is empty`);
  for (const [property, lookup] of Object.entries(lookups)) {
    const wanted = comparable(property, text);
    const named: Row[] = [];
    let count = 0;
    for await (const row of await lookup(tocsin, text, { signal })) {
      count += 1;
      if (count > MOST_ROWS) throw new UsageError(`${what}: more than ${MOST_ROWS} to compare: use the ID`);
      if (typeof row[property] === 'string' && comparable(property, row[property]) === wanted) named.push(row);
    }
    const present = named.filter((row) => !isEnded(row));
    const [one, ...others] = present.length === 0 ? named : present;
    if (one === undefined) continue;
    if (others.length === 0) return String(one['id']);
    throw new UsageError(`${what}: several ${noun}s have the ${property} ${text}: ${candidates([one, ...others])}`);
  }
  throw new Error(`${what}: there is no ${noun} ${text} (by ${finderOf(kind).words})`);
}

/** `12 (checkout), 15 (checkout_2)`. */
function candidates(rows: readonly Row[]): string {
  const shown = rows.slice(0, SHOWN).map((row) => {
    const other = row['slug'] ?? row['email'] ?? row['prefix'] ?? row['origin'];
    return `${row['id'] as string | number}${typeof other === 'string' ? ` (${other})` : ''}`;
  });
  return [...shown, ...(rows.length > SHOWN ? [`and ${rows.length - SHOWN} more`] : [])].join(', ');
}

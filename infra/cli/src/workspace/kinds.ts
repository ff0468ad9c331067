import { isDeepStrictEqual } from 'node:util';
import type { Tocsin } from '@tocsin/sdk';
import type { Row } from '../output.ts';
import { configurationLists, type ListName, workspaceDocument } from './document.ts';

/** How one list of a document is in the API. */
export interface Kind {
  list: ListName;
  /** The property that names an entry, and that never changes. */
  identity: 'slug' | 'email' | 'name';
  resource: 'users' | 'teams' | 'services' | 'customFields' | 'webhooks' | 'destinations';
  /** One of them, and the property of replies that is the resource. */
  item: string;
  isArchived: boolean;
  /** Properties that are slugs of teams, with those of the API, which are IDs. */
  references: Readonly<Record<string, string>>;
  /** What a create must have, what never changes, and what only an update takes. */
  required: readonly string[];
  permanent: readonly string[];
  later: readonly string[];
  /** Properties that name environment variables, with those of the API, which get their values. */
  secrets: Readonly<Record<string, string>>;
}

const kind = (list: ListName, item: string, more: Partial<Kind>): Kind => ({
  ...{ list, item, identity: 'slug', resource: list as 'teams', isArchived: true },
  ...{ references: {}, required: ['name'], permanent: [], later: [], secrets: {}, ...more },
});

/** In the order of their references. */
export const KINDS: Readonly<Record<ListName, Kind>> = {
  users: kind('users', 'user', { identity: 'email', isArchived: false, later: ['active'] }),
  teams: kind('teams', 'team', { references: { parent: 'parent_team_id' } }),
  services: kind('services', 'service', { references: { owner_team: 'owner_team_id' } }),
  fields: kind('fields', 'field', {
    ...{ resource: 'customFields', required: ['name', 'field_type'], permanent: ['field_type'], later: ['sort_order'] },
  }),
  webhooks: kind('webhooks', 'webhook', {
    ...{
      identity: 'name',
      isArchived: false,
      required: ['url'],
      permanent: ['url', 'event_types', 'include_restricted'],
    },
  }),
  destinations: kind('destinations', 'destination', {
    ...{ identity: 'name', isArchived: false, required: ['kind'], permanent: ['kind'] },
    secrets: { url_env: 'url', credential_env: 'credential' },
  }),
};

export const emptyLists = <Item>(): Readonly<Record<ListName, Map<string, Item>>> => ({
  ...{ users: new Map(), teams: new Map(), services: new Map(), fields: new Map() },
  ...{ webhooks: new Map(), destinations: new Map() },
});

/** The methods of the kinds. */
interface Resource {
  list(query: object, options: object): AsyncIterable<Row>;
  get(id: unknown, options: object): Promise<Record<string, Row>>;
  create(body: object, options: object): Promise<Record<string, Row>>;
  update(id: unknown, body: object, options: object): Promise<Record<string, Row>>;
  archive(id: unknown, options: object): Promise<Record<string, Row>>;
  restore(id: unknown, options: object): Promise<Record<string, Row>>;
}
export const resourceOf = (tocsin: Tocsin, { resource }: Kind) => tocsin[resource] as unknown as Resource;

/** The properties of an entry besides its identity and its members. */
export const propertiesOf = ({ list, identity }: Kind): string[] =>
  Object.keys(workspaceDocument.shape[list].unwrap().element.shape).filter(
    (name) => name !== identity && name !== 'members',
  );

/** Two names of the same thing have the same key. */
export const keyOf = (list: ListName, name: string): string => {
  const key = name.trim().normalize();
  return list === 'users' || list === 'destinations' ? key.toLowerCase() : key;
};

/** Whether an entry of a list of the configuration has a property by default. */
export const isDefaultOfEntry = (name: string, value: unknown): boolean =>
  value === false || value === '' || (name === 'color' && value === '#667085');

/** Whether a configuration names its timeline groups by their IDs, so that they can get other names. */
export const hasIds = ({ timeline_groups: groups }: Row): boolean =>
  Array.isArray(groups) && groups.some((group: Row) => group['id'] !== undefined);

/** The lists of a configuration without what follows from the place in them, and defaults; without IDs unless asked. */
export function listsOf(configuration: Row, isWithIds = false): Row {
  const short = (entry: Row) =>
    Object.fromEntries(
      Object.entries(entry).filter(
        ([name, value]) => name !== 'order' && (name !== 'id' || isWithIds) && !isDefaultOfEntry(name, value),
      ),
    );
  const lists = Object.keys(configurationLists.shape)
    .filter((name) => configuration[name] !== undefined)
    .map((name) => [name, Array.isArray(configuration[name]) ? configuration[name].map(short) : configuration[name]]);
  return Object.fromEntries(lists) as Row;
}

export const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

/** A part of an object. */
export const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.filter((name) => name in row).map((name) => [name, row[name]]));

/** What of a URL the API shows. */
export function originOf(url: unknown): string {
  if (!URL.canParse(String(url))) return String(url);
  const { protocol, hostname } = new URL(String(url));
  return `${protocol}//${hostname}`;
}

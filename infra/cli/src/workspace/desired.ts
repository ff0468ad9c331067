import type { Row } from '../output.ts';
import type { ListName, LoadedDocument } from './document.ts';
import { emptyLists, type Kind, KINDS, keyOf } from './kinds.ts';
import type { Present } from './present.ts';

/** What a document says of one thing. */
export interface Entry {
  kind: Kind;
  key: string;
  name: string;
  /** Those that the document states, besides identity and members. */
  properties: Row;
  members: readonly { email: string; role?: string | undefined }[];
  hasMembers: boolean;
  /** Where it is, or a part of it. */
  placeOf(...path: PropertyKey[]): string;
}

/** What all documents say together, by keys. */
export interface Desired {
  configuration: Row;
  configurationPlace: string;
  entries: Readonly<Record<ListName, Map<string, Entry>>>;
}

/** Puts documents together. What two of them say is a mistake, which is added to the list. */
export function mergeDocuments(documents: readonly LoadedDocument[], mistakes: string[]): Desired {
  const desired: Desired = { configuration: {}, configurationPlace: '', entries: emptyLists() };
  const places = new Map<string, string>();
  const add = (what: string, place: string) => {
    const first = places.get(what);
    if (first === undefined) places.set(what, place);
    else mistakes.push(`${place}: Is in the files twice: first at ${first}`);
    return first === undefined;
  };
  for (const { document, placeOf } of documents) {
    const { configuration = {}, ...lists } = document;
    for (const [name, value] of Object.entries(configuration)) {
      if (!add(`configuration ${name}`, placeOf(['configuration', name]))) continue;
      desired.configuration = { ...desired.configuration, [name]: value };
      desired.configurationPlace = placeOf(['configuration']);
    }
    for (const [list, rows] of Object.entries(lists) as [ListName, Row[] | undefined][]) {
      for (const [index, row] of (rows ?? []).entries()) {
        const entry = entryOf(KINDS[list], row, (...path) => placeOf([list, index, ...path]));
        if (!add(`${list} ${entry.key}`, entry.placeOf())) continue;
        desired.entries[list].set(entry.key, entry);
        for (const [place, { email }] of entry.members.entries())
          add(`${list} ${entry.key} ${keyOf('users', email)}`, entry.placeOf('members', place));
      }
    }
  }
  return desired;
}

/** Leaves owners and parents out that are no team of the documents, and no active one of the workspace. Returns them. */
export function leaveOutUnknownTeams({ entries }: Desired, { rows }: Present): string[] {
  const leftOut: string[] = [];
  for (const entry of [...entries.teams.values(), ...entries.services.values()])
    for (const name of Object.keys(entry.kind.references)) {
      const { [name]: slug, ...others } = entry.properties;
      if (typeof slug !== 'string' || entries.teams.has(keyOf('teams', slug))) continue;
      const team = rows.teams.get(keyOf('teams', slug));
      if (team !== undefined && team['archived_at'] === undefined) continue;
      entry.properties = others;
      leftOut.push(`${entry.placeOf(name)}: There is no team ${slug}`);
    }
  return leftOut;
}

function entryOf(kind: Kind, row: Row, placeOf: Entry['placeOf']): Entry {
  const { [kind.identity]: name, members, ...properties } = row;
  const key = keyOf(kind.list, name as string);
  const hasMembers = members !== undefined;
  return {
    kind,
    key,
    name: name as string,
    properties,
    members: (members ?? []) as Entry['members'],
    hasMembers,
    placeOf,
  };
}

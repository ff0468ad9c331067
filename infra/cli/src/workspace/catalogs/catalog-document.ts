import type { LoadedDocument, WorkspaceDocument } from '../document.ts';
import type { Prunable } from '../compare.ts';

/** What another system has, as a document. */
export interface CatalogDocument extends LoadedDocument {
  /** What has no place in a workspace, with how often it occurs: `Component spec.dependsOn (3)`. */
  ignored: readonly string[];
  /** What could not be read: its place, and why. */
  leftOut: readonly string[];
  incomplete: ReadonlySet<Prunable>;
}

/** Entries of one list at most. */
const MOST_ENTRIES = 20_000;
/** Bytes of a slug. */
const SLUG_BYTES = 64;

const SLUGS = {
  teams: { separators: /[^a-z0-9]+/g, start: /^[^a-z]+/ },
  services: { separators: /[^\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}]+/gu, start: /^[^\p{Ll}\p{Lo}\p{Lm}]+/u },
} as const;

/** The slug that a name of another system gets: `artist-lookup` is `artist_lookup`. Empty without a letter. */
export function slugOf(kind: keyof typeof SLUGS, name: string): string {
  const { separators, start } = SLUGS[kind];
  const plain = kind === 'teams' ? name.normalize('NFKD').replaceAll(/\p{Mn}/gu, '') : name;
  const text = plain.toLowerCase().normalize('NFC').replaceAll(separators, '_').replace(start, '');
  // As a stream, the bytes of a part of a character are left out.
  const cut = new TextDecoder().decode(Buffer.from(text).subarray(0, SLUG_BYTES), { stream: true });
  return cut.replace(/_$/, '');
}

/** Collects a document, and where its entries come from. */
export function documentBuilder() {
  const document: WorkspaceDocument = {};
  const places: Record<string, string[]> = {};
  const owners = new Map<string, string>();
  const counts = new Map<string, number>();
  const leftOut: string[] = [];
  const incomplete = new Set<Prunable>();
  return {
    /**
     * @param identity what no other entry of the list may have
     * @throws Error
     */
    add<List extends 'users' | 'teams' | 'services'>(
      list: List,
      entry: NonNullable<WorkspaceDocument[List]>[number],
      { identity, place }: { identity: string; place: string },
    ): void {
      const other = owners.get(`${list} ${identity}`);
      if (other !== undefined) throw new Error(`${place}: has the same ${identity} as ${other}`);
      owners.set(`${list} ${identity}`, place);
      const entries = (document[list] ??= []) as (typeof entry)[];
      if (entries.push(entry) > MOST_ENTRIES) throw new Error(`${place}: more than ${MOST_ENTRIES} ${list}`);
      (places[list] ??= []).push(place);
    },

    /** @param lists that may lack something for it */
    ignore: (what: string, lists: readonly Prunable[] = []): void => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
      for (const list of lists) incomplete.add(list);
    },

    leaveOut: (what: string, lists: readonly Prunable[]): void => {
      leftOut.push(what);
      for (const list of lists) incomplete.add(list);
    },

    build: (origin: string): CatalogDocument => ({
      document,
      placeOf: ([list = '', index = 0, ...property]) =>
        [places[String(list)]?.[Number(index)] ?? origin, ...(property.length > 0 ? [property.join('.')] : [])].join(
          ': ',
        ),
      ignored: [...counts].map(([what, count]) => `${what} (${count})`).toSorted(),
      leftOut,
      incomplete,
    }),
  };
}

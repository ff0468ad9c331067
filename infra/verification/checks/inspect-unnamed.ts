import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { marked, type Tokens } from 'marked';
import { spansIn } from './inspect-names.ts';

/** The folders of a source that are no rooms: layers (CONTRIBUTING.md), and what is generated. */
const NO_ROOMS = new Set(['domain', 'usecases', 'http', 'store', 'messaging', 'clients', 'generated']);
const ROOMS_DOCUMENT = 'docs/architecture.md';
const TABLE_DOCUMENTS = [ROOMS_DOCUMENT, 'docs/guides/operations-reference.md', '{gateway,services/*}/README.md'];

const CREATED = /\bcreateTable\('(\w+)'|\bcreate table (?:if not exists )?(\w+) \(/g;
const DROPPED = /\bdropTable\('(\w+)'|\bdrop table (?:if exists )?(\w+)/g;

/**
 * Checks that the overview names the rooms of each app and package, and no others: in the first column of a table whose
 * title is `rooms of …`.
 * @returns the problems
 */
export function inspectRooms(root: string): string[] {
  const rooms = Map.groupBy(
    globSync('{gateway,gateway/console,services/*,shared/*}/src/*/', { cwd: root })
      .map((folder) => ({ owner: ownerOf(path.dirname(folder)), room: path.basename(folder) }))
      .filter(({ room }) => !NO_ROOMS.has(room)),
    ({ owner }) => owner,
  );
  const named = new Map(
    tablesIn(read(root, ROOMS_DOCUMENT)).map(({ header, rows }) => [
      header[0]?.text.replaceAll('`', '').replace(/^rooms of /, '') ?? '',
      new Set(spansIn(rows.flatMap((cells) => cells[0]?.tokens ?? []))),
    ]),
  );
  return [...rooms].flatMap(([owner, places]) => {
    const present = new Set(places.map(({ room }) => room));
    const names = named.get(owner) ?? new Set<string>();
    return [
      ...without(present, names).map((room) => `${ROOMS_DOCUMENT}: does not name the room ${room} of ${owner}`),
      ...without(names, present).map((room) => `${ROOMS_DOCUMENT}: ${owner} has no room ${room}`),
    ];
  });
}

/**
 * Checks that a document names each table that the migrations of the apps create, with its schema.
 * @returns the problems
 */
export function inspectTables(root: string): string[] {
  const documents = globSync(TABLE_DOCUMENTS, { cwd: root }).sort();
  const named = new Set(documents.flatMap((document) => spansIn(marked.lexer(read(root, document)))));
  return globSync('{gateway,services/*}/migrations', { cwd: root }).flatMap((folder) => {
    const schema = path.basename(path.dirname(folder)).replaceAll('-', '_');
    const migrations = globSync(`${folder}/*.ts`, { cwd: root }).map((file) => read(root, file));
    const tablesOf = (pattern: RegExp) =>
      new Set(
        migrations.flatMap((text) => Array.from(text.matchAll(pattern), ([, inCall, inSql]) => inCall ?? inSql ?? '')),
      );
    return without(tablesOf(CREATED), tablesOf(DROPPED))
      .filter((table) => !named.has(`${schema}.${table}`))
      .map((table) => `${documents.join(', ')}: none names the table ${schema}.${table}`);
  });
}

/** What the title of its table calls the owner of a source. */
function ownerOf(source: string): string {
  const [folder = '', name = ''] = source.split(path.sep);
  if (folder === 'services') return `the ${name} service`;
  return folder === 'shared' ? `shared/${name}` : name === 'console' ? 'the console' : 'the gateway';
}

const without = (names: ReadonlySet<string>, others: ReadonlySet<string>): string[] =>
  [...names].filter((name) => !others.has(name));

const read = (root: string, file: string): string => readFileSync(path.join(root, file), 'utf8');

const tablesIn = (text: string): Tokens.Table[] =>
  marked.lexer(text).flatMap((token) => (token.type === 'table' ? [token as Tokens.Table] : []));

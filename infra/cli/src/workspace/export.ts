import { Document, isMap, isScalar, isSeq, type Node, type Pair, parseDocument, Scalar, visit, YAMLMap } from 'yaml';
import type { Row } from '../output.ts';
import { HIDDEN } from '../visible.ts';
import { isOwn, type Limits } from './compare.ts';
import type { ListName } from './document.ts';
import { hasIds, isDefaultOfEntry, isSame, type Kind, KINDS, keyOf, listsOf, originOf, pick } from './kinds.ts';
import { type Present, statedIn } from './present.ts';
import { Mistakes, parseWorkspace } from './read-file.ts';

const SCHEMA = ' yaml-language-server: $schema=./node_modules/@tocsin/cli/schema/workspace.schema.json';

/** What a new resource gets if nothing is said. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  ...{ role: 'member', seat: 'none', active: true, category: 'custom', visibility_level: 'standard' },
};
const isDefault = (name: string, value: unknown) =>
  value === null ||
  (name !== 'default_value' &&
    (value === false ||
      isSame(value, []) ||
      (name === 'filters' && isSame(value, {})) ||
      value === DEFAULTS[name] ||
      name === 'event_types'));

/**
 * Writes the workspace as a document. What the file has already keeps its place, its comments and its notation.
 * @param lists those that are written; the others stay as they are in the file
 * @param text of the file; undefined if there is none
 * @param note gets what is left out
 * @throws Mistakes if the file is not valid, or has aliases or several documents
 */
export function writeWorkspace(
  present: Present,
  lists: ReadonlySet<ListName | 'configuration'>,
  options: { limits: Limits; file: string; text: string | undefined; note: (what: string) => void },
): string {
  const { limits, file, text, note } = options;
  const [stated, ...others] = text === undefined ? [] : parseWorkspace(file, text);
  if (others.length > 0) throw new Mistakes([`${file}: has several documents: export to another file`]);
  // A file may have nothing but comments.
  const yaml = stated?.yaml ?? (text === undefined ? new Document({}) : parseDocument(text));
  if (text === undefined) yaml.commentBefore = SCHEMA;
  yaml.contents ??= new YAMLMap();
  visit(yaml, {
    Alias: () => {
      throw new Mistakes([`${file}: has aliases, which cannot be kept: export to another file`]);
    },
  });
  const root = yaml.contents as YAMLMap<unknown, Node>;
  const write = (name: string, value: unknown, isKept?: typeof isDefaultOfEntry) => {
    const node = root.get(name, true) as Node | undefined;
    root.set(name, node === undefined ? yaml.createNode(value) : put(yaml, node, value, isKept));
  };
  if (lists.has('configuration')) {
    const before = root.get('configuration', true) as Node | undefined;
    const names = isMap<Scalar>(before) ? before.items.map(({ key }) => key.value) : [];
    const current: Row = { ...present.configuration };
    const all = Object.entries(listsOf(current, hasIds((before?.toJS(yaml) ?? {}) as Row)));
    const shown = all.filter(([name, value]) => names.includes(name) || (!isSame(value, []) && value !== ''));
    const written = { ...(names.includes('revision') && pick(current, ['revision'])), ...Object.fromEntries(shown) };
    write('configuration', written, (name, value) => name === 'replace' || isDefaultOfEntry(name, value));
  }
  for (const kind of Object.values(KINDS)) {
    if (!lists.has(kind.list)) continue;
    const before = ((root.get(kind.list, true) as Node | undefined)?.toJS(yaml) ?? []) as Row[];
    const entries = entriesOf(present, kind, { limits, stated: before, note });
    if (entries.length > 0 || before.length > 0) write(kind.list, entries);
  }
  return textOf(yaml);
}

/** Those of the file first, in its order. */
function entriesOf(
  present: Present,
  kind: Kind,
  { limits, stated, note }: { limits: Limits; stated: readonly Row[]; note: (what: string) => void },
): Row[] {
  const { list, identity, item, references, secrets } = kind;
  const rows = new Map(
    [...present.rows[list]].filter(
      ([key, row]) =>
        row['archived_at'] === undefined &&
        isOwn(list, row, limits) !== false &&
        !(list === 'webhooks' && present.ambiguous.has(key)),
    ),
  );
  const before = new Map(stated.map((entry) => [keyOf(list, entry[identity] as string), entry]));
  const keys = new Set([...[...before.keys()].filter((key) => rows.has(key)), ...rows.keys()]);
  return [...keys].map((key) => {
    const row = rows.get(key) ?? {};
    const old = before.get(key) ?? {};
    const values: Row = {
      ...statedIn(present, kind, row),
      ...(list === 'teams' && { members: membersOf(present, key, old) }),
    };
    // Other workspaces do not have them, and nothing new may refer to them.
    const archived = Object.keys(references).filter(
      (name) => present.rows.teams.get(keyOf('teams', String(values[name])))?.['archived_at'] !== undefined,
    );
    for (const name of archived)
      note(`left out: ${name} ${String(values[name])} of ${item} ${key}: the team is archived`);
    const shown = Object.keys(values).filter(
      (name) => !archived.includes(name) && !(name in secrets) && (name in old || !isDefault(name, values[name])),
    );
    const isSameUrl = list === 'webhooks' && 'url' in old && originOf(old['url']) === originOf(row['url']);
    const kept = isSameUrl ? ['url'] : Object.keys(secrets);
    return { [identity]: old[identity] ?? row[identity], ...pick(values, shown), ...pick(old, kept) };
  });
}

function membersOf(present: Present, team: string, { members = [] }: { members?: unknown } & Row): Row[] {
  const before = new Map((members as Row[]).map((member) => [keyOf('users', member['email'] as string), member]));
  const all = present.members.get(team) ?? new Map<string, Row>();
  const keys = new Set([...[...before.keys()].filter((key) => all.has(key)), ...all.keys()]);
  return [...keys].map((key) => {
    const [{ email, role }, old] = [all.get(key) ?? {}, before.get(key) ?? {}];
    return { email: old['email'] ?? email, ...((role !== 'member' || 'role' in old) && { role }) };
  });
}

/** What names an entry of a list. */
const nameOf = (entry: unknown): unknown => {
  const { slug, key, email, name, currency, value } = (entry ?? {}) as Row;
  return slug ?? key ?? email ?? name ?? currency ?? value;
};

/** Gives a node a value: in place as far as possible. @param isKept whether a property that the value lacks stays */
function put(yaml: Document, node: Node, value: unknown, isKept: typeof isDefaultOfEntry = () => false): Node {
  const before: unknown = node.toJS(yaml);
  if (isSame(before, value)) return node;
  if (isMap<unknown, Node>(node) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const old = node.get(name, true) as Node | undefined;
      if (old === undefined) node.add(yaml.createPair(name, inner) as Pair<unknown, Node>);
      else node.set(name, put(yaml, old, inner, isKept));
    }
    node.items = node.items.filter(
      ({ key, value: inner }) => Object.hasOwn(value, String(key)) || isKept(String(key), inner?.toJS(yaml)),
    );
    return node;
  }
  if (isSeq<Node>(node) && Array.isArray(value)) {
    const old = new Map(node.items.map((item) => [nameOf(item.toJS(yaml)), item]));
    if (node.items.length === 0) node.flow = false;
    node.items = value.map((inner: unknown) => {
      const name = nameOf(inner);
      const item = name === undefined ? undefined : old.get(name);
      // Two can have the same name.
      old.delete(name);
      return item === undefined ? yaml.createNode(inner) : put(yaml, item, inner, isKept);
    });
    return node;
  }
  const fresh: Node = yaml.createNode(value);
  if (isScalar(node) || isSeq(node) || isMap(node))
    Object.assign(fresh, { comment: node.comment, commentBefore: node.commentBefore, spaceBefore: node.spaceBefore });
  return fresh;
}

/** Texts that a reader or an editor could change without seeing it are quoted, with escapes. */
function textOf(yaml: Document): string {
  visit(yaml, {
    Scalar: (_, node) => {
      // A key `<<` without quotes is a merge.
      if (typeof node.value === 'string' && (isHidden(node.value) || /[ \t]$|^[ \t\n]|^<<$/m.test(node.value)))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // With merges, the quotes of `<<` are left out.
  yaml.setSchema('1.2', { merge: false });
  const text = yaml.toString({ lineWidth: 0, doubleQuotedAsJSON: true });
  return text.replaceAll(HIDDEN, (hidden) => {
    if ('\n\r\t'.includes(hidden)) return hidden;
    const code = hidden.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

const isHidden = (text: string) => text.replaceAll('\n', '').search(HIDDEN) !== -1;

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readInput } from '../../read-input.ts';
import type { Session } from '../../session.ts';

/** Levels of folders, files and folders in all, and bytes of a file. */
const DEEPEST = 30;
const MOST_FILES = 50_000;
const LARGEST = 1_048_576;

/** What templates have in the places of values. */
export const PLACEHOLDER = /\{\{|\{%/;
/** In a text that no parser reads, in any notation. */
const IS_CATALOG = /\bapiVersion['"]?\s*:\s*['"]?(?:[\w-]+\.)*backstage\.io/;

const texts = z.array(z.string());
const entitySchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().default('default'),
    title: z.string().optional(),
    // Another file may have it: `$text: ./README.md`.
    description: z.union([z.string(), z.looseObject({})]).optional(),
    tags: texts.default([]),
    annotations: z.record(z.string(), z.unknown()).default({}),
  }),
  spec: z
    .looseObject({
      ...{ type: z.string(), lifecycle: z.string(), owner: z.string(), system: z.string(), parent: z.string() },
      ...{ children: texts, members: texts, memberOf: texts },
      profile: z.looseObject({ displayName: z.string(), email: z.string() }).partial(),
    })
    .partial()
    .default({}),
});

/** An entity of a catalog, with the file and the line where it begins. */
export type Entity = z.infer<typeof entitySchema> & { place: string };

/** Gets what is left out, with its place and the reason. @param kinds of entities that it may have */
export type LeaveOut = (what: string, kinds?: readonly string[]) => void;

/**
 * Reads the entities of all YAML files below a folder, or of one file. Hidden folders and `node_modules` are left out, and
 * files that do not name Backstage.
 * @throws Error
 */
export async function readEntities(session: Session, folder: string, leaveOut: LeaveOut): Promise<Entity[]> {
  const entities: Entity[] = [];
  for (const file of await yamlFiles(folder, leaveOut)) {
    try {
      const text = await readInput(session, file);
      // Parsing takes time.
      if (!text.includes('backstage.io')) continue;
      if (text.length <= LARGEST) entities.push(...entitiesOf(file, text, leaveOut));
      else if (IS_CATALOG.test(text)) leaveOut(`${file}: has more than ${LARGEST} characters`);
    } catch (error) {
      session.signal.throwIfAborted();
      leaveOut(`${file}: ${(error as Error).message}`);
    }
  }
  return entities;
}

async function yamlFiles(root: string, leaveOut: LeaveOut): Promise<string[]> {
  const files: string[] = [];
  let count = 0;
  const visit = async (folder: string, level: number): Promise<void> => {
    if (level > DEEPEST) throw new Error(`${folder}: more than ${DEEPEST} levels below ${root}`);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      count += 1;
      if (count > MOST_FILES) throw new Error(`${root}: has more than ${MOST_FILES} files`);
      const inside = path.join(folder, entry.name);
      const isYaml = /\.ya?ml$/i.test(entry.name);
      if (entry.isSymbolicLink()) {
        const isFolder = async () => (await stat(inside).catch(() => undefined))?.isDirectory() === true;
        if (isYaml || (await isFolder())) leaveOut(`${inside}: is a symbolic link`);
      } else if (entry.isDirectory()) {
        if (!/^(?:\.|node_modules$)/.test(entry.name)) await visit(inside, level + 1);
      } else if (entry.isFile() && isYaml) files.push(inside);
    }
  };
  const isFolder = await stat(root).then(
    (stats) => stats.isDirectory(),
    (error: unknown) => {
      throw new Error(`cannot read ${root}: ${(error as Error).message}`);
    },
  );
  if (!isFolder) return [root];
  await visit(root, 1);
  return files;
}

function entitiesOf(file: string, text: string, leaveOut: LeaveOut): Entity[] {
  const lineCounter = new LineCounter();
  const placeOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
  return documents.flatMap((document): Entity[] => {
    const [start, , end] = document.range;
    const source = text.slice(start, end);
    const [error] = document.errors;
    try {
      if (error !== undefined) throw new Error(`is not YAML: ${error.message}`);
      return entityOf(document, { source, start, placeOf, leaveOut });
    } catch (failure) {
      // The second reason is that of too many aliases.
      const place = placeOf(error?.pos[0] ?? document.contents?.range[0] ?? start);
      const kinds = PLACEHOLDER.test(source) ? [] : undefined;
      if (IS_CATALOG.test(source)) leaveOut(`${place}: ${(failure as Error).message}`, kinds);
      return [];
    }
  });
}

/** @throws Error for too many aliases */
function entityOf(
  document: Document.Parsed,
  options: { source: string; start: number; placeOf: (offset: number) => string; leaveOut: LeaveOut },
): Entity[] {
  const { source, start, placeOf, leaveOut } = options;
  const value = document.toJS() as { apiVersion?: unknown; kind?: unknown; metadata?: { name?: unknown } } | null;
  // Files of other systems may stand beside them.
  if (!/^(?:[\w-]+\.)*backstage\.io\//.test(String(value?.apiVersion))) return [];
  const rangeOf = (path: readonly PropertyKey[]) =>
    (document.getIn(path, true) as { range?: [number, number, number] } | undefined)?.range;
  const place = placeOf(document.contents?.range[0] ?? start);
  const { data, error } = entitySchema.safeParse(value);
  const named = [value?.kind, value?.metadata?.name].filter((each) => typeof each === 'string');
  const [from, to] = rangeOf(['metadata', 'name']) ?? [start, start];
  const isTemplate = PLACEHOLDER.test(source.slice(from - start, to - start));
  if (isTemplate) leaveOut(`${place}: ${named.join(' ')}: is a template: its name has a placeholder`, []);
  else if (data !== undefined) return [{ ...data, place }];
  else {
    const { path = [], message = 'Is not valid' } = error.issues[0] ?? {};
    const at = rangeOf(path)?.[0];
    const reason = [named.join(' '), path.join('.'), message].filter((text) => text !== '').join(': ');
    const kinds = typeof value?.kind === 'string' ? [value.kind] : undefined;
    leaveOut(`${at === undefined ? place : placeOf(at)}: ${reason}`, kinds);
  }
  return [];
}

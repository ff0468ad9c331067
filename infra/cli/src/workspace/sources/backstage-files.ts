import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { LineCounter, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readInput } from '../../read-input.ts';
import type { Session } from '../../session.ts';

/** Levels of folders, files and folders in all, and bytes of a file. */
const DEEPEST = 30;
const MOST_FILES = 50_000;
const LARGEST = 1_048_576;

const texts = z.array(z.string());
const entitySchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().default('default'),
    title: z.string().optional(),
    description: z.string().optional(),
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

/**
 * Reads the entities of all YAML files below a folder, or of one file. Hidden folders, `node_modules` and symbolic links
 * are left out.
 * @param ignore gets what is left out and may have entities
 * @throws Error naming file, line and column
 */
export async function readEntities(
  session: Session,
  folder: string,
  ignore: (what: string) => void,
): Promise<Entity[]> {
  const entities: Entity[] = [];
  for (const file of await yamlFiles(folder, ignore)) {
    if ((await lstat(file)).size > LARGEST) {
      ignore(`YAML file of more than ${LARGEST} bytes`);
      continue;
    }
    const text = await readInput(session, file);
    if (!/^apiVersion:\s*['"]?backstage\.io\//m.test(text)) continue;
    if (/\$\{\{|\{%/.test(text)) ignore('file with placeholders, such as ${{ values.name }}');
    else entities.push(...entitiesOf(file, text));
  }
  return entities;
}

async function yamlFiles(root: string, ignore: (what: string) => void): Promise<string[]> {
  const files: string[] = [];
  let count = 0;
  const visit = async (folder: string, level: number): Promise<void> => {
    if (level > DEEPEST) throw new Error(`${folder}: more than ${DEEPEST} levels below ${root}`);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      count += 1;
      if (count > MOST_FILES) throw new Error(`${root}: has more than ${MOST_FILES} files`);
      const inside = path.join(folder, entry.name);
      if (entry.isSymbolicLink()) ignore('symbolic link');
      else if (entry.isDirectory()) {
        if (!/^(?:\.|node_modules$)/.test(entry.name)) await visit(inside, level + 1);
      } else if (entry.isFile() && /\.ya?ml$/i.test(entry.name)) files.push(inside);
    }
  };
  const isFolder = await stat(root).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      throw new Error(`cannot read ${root}: ${(error as Error).message}`);
    },
  );
  if (!isFolder) return [root];
  await visit(root, 1);
  return files;
}

function entitiesOf(file: string, text: string): Entity[] {
  const lineCounter = new LineCounter();
  const placeOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  return parseAllDocuments(text, { lineCounter, prettyErrors: false }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${placeOf(error.pos[0])}: is not YAML: ${error.message}`);
    if (document.contents === null) return [];
    const place = placeOf(document.contents.range[0]);
    const value = valueOf(document, place) as { apiVersion?: unknown } | null;
    // Files of other systems may stand beside them.
    if (!String(value?.apiVersion).startsWith('backstage.io/')) return [];
    const { data, error: refusal } = entitySchema.safeParse(value);
    if (data !== undefined) return [{ ...data, place }];
    const [issue] = refusal.issues;
    const property = issue?.path ?? [];
    const node = document.getIn(property, true) as { range?: [number, number, number] } | undefined;
    const at = node?.range === undefined ? place : placeOf(node.range[0]);
    throw new Error(`${at}: ${property.join('.')}: ${issue?.message ?? 'Is not valid'}`);
  });
}

function valueOf(document: { toJS(): unknown }, place: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Too many aliases.
    throw new Error(`${place}: ${(error as Error).message}`);
  }
}

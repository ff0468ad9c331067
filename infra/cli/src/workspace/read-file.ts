import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import type { z } from 'zod';
import { type LoadedDocument, workspaceDocument } from './document.ts';

/** Uses of anchors: each makes the document larger. */
const MAX_ALIASES = 10_000;

const byPlace = new Intl.Collator('en', { numeric: true });

/** What is wrong with files, each with its place. */
export class Mistakes extends Error {
  readonly list: readonly string[];

  constructor(list: readonly string[]) {
    super(list.join('\n'));
    this.list = list.toSorted(byPlace.compare);
  }
}

/** A document, and as it is written. */
type ParsedDocument = LoadedDocument & { yaml: Document };

/**
 * Parses a file of the workspace, which may have several documents.
 * @throws Mistakes, all that the file has: `services.yaml:3:7: services[0].tier: …`
 */
export function parseWorkspace(file: string, text: string): ParsedDocument[] {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const mistakes: string[] = [];
  const orMistakes = <Result>(work: () => Result): Result[] => {
    try {
      return [work()];
    } catch (error) {
      // Others: too many aliases, or a depth that the stack does not hold.
      mistakes.push(
        ...(error instanceof Mistakes ? error.list : [`${file}: cannot be read: ${(error as Error).message}`]),
      );
      return [];
    }
  };
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, merge: true };
  const documents = orMistakes(() => [...parseAllDocuments(text, options)]).flat();
  const parsed = documents.flatMap((yaml) => orMistakes(() => readDocument(yaml, at)));
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return parsed;
}

/** @throws Mistakes */
function readDocument(yaml: Document.Parsed, at: (offset: number) => string): ParsedDocument {
  const broken = [...yaml.errors, ...yaml.warnings].map(({ message, pos }) => `${at(pos[0])}: ${message}`);
  if (broken.length > 0) throw new Mistakes(broken);
  const wrong: string[] = [];
  const anchors = new Set<string | undefined>();
  visit(yaml, {
    Node: (_, node) => {
      const refuse = (message: string) => wrong.push(`${at(node.range?.[0] ?? 0)}: ${message}`);
      if (isAlias(node) && !anchors.has(node.source)) refuse(`There is no anchor ${node.source}`);
      else if (!isAlias(node)) anchors.add(node.anchor);
      if (isScalar(node) && typeof node.value === 'number' && !isExact(node.value, node.source ?? ''))
        refuse(`${node.source} is a number that cannot be stored as it is written`);
    },
  });
  if (wrong.length > 0) throw new Mistakes(wrong);
  const value: unknown = yaml.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  const { data, error } = workspaceDocument.safeParse(value, { error: messageOf });
  const invalid = (error?.issues ?? []).flatMap((issue) => {
    const { path, message } = issue;
    if (issue.code !== 'unrecognized_keys') return `${at(offsetOf(yaml, path))}: ${nameOf(path)}: ${message}`;
    return issue.keys.map(
      (key) => `${at(offsetOf(yaml, [...path, key], true))}: ${nameOf([...path, key])}: Is not a property`,
    );
  });
  if (data === undefined) throw new Mistakes(invalid);
  return { yaml, document: data, placeOf: (path) => `${at(offsetOf(yaml, path))}: ${nameOf(path)}` };
}

const messageOf: z.core.$ZodErrorMap = ({ code, expected, input }) => {
  if (code !== 'invalid_type') return undefined;
  if (input === undefined) return 'Is required';
  return `Must be of the type ${String(expected)}${expected === 'string' ? ': write it in quotes' : ''}`;
};

/** `services[3].tags`, as errors of the API name properties. */
const nameOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '') || 'the file';

/** Where a value begins, or that around it which exists. */
function offsetOf(document: Document, path: readonly PropertyKey[], isKey = false): number {
  let node = document.contents as Node | null | undefined;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, part] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    let key: Node | undefined;
    if (isMap<Node, Node | null>(node)) {
      const pair = node.items.find((one) => isScalar(one.key) && one.key.value === part);
      if (pair === undefined) break;
      [key, node] = [pair.key, pair.value];
    } else if (isSeq<Node>(node)) node = node.items[part as number];
    else break;
    const shown = isKey && index === path.length - 1 ? key : (node ?? key);
    offset = shown?.range?.[0] ?? offset;
  }
  return offset;
}

/** Whether a number has the digits of its text. */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  const digits = (text: string) =>
    text
      .toLowerCase()
      .replace(/e.*/, '')
      .replaceAll(/[-+.]/g, '')
      .replaceAll(/^0+|(?<!0)0+$/g, '');
  return /^0[xo]/.test(source) || digits(source) === digits(String(value));
}

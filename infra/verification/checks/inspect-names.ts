import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { marked, type Token, type Tokens } from 'marked';

const SKIPPED = new Set(['.git', 'node_modules', '.tocsin', 'coverage', 'dist']);
const FILE = /^\w[\w./-]*\.(?:ts|mjs|js|json|yaml|yml)$/;
/** At least two words, so that it is no property, table or command. */
const FUNCTION = /^[a-z]+(?:[A-Z][a-z0-9]*)+$/;

/**
 * Checks the names of files and functions in the code spans of a document. A file is named by its path or the end of it.
 * A function in the second column of a table must be in a file of the first column, any other one in any source.
 * @returns the problems
 */
export function inspectNames(root: string, document: string): string[] {
  const files = [...sourcesIn(root, '')];
  const texts = new Map<string, string>();
  const textOf = (file: string) => {
    const text = texts.get(file) ?? readFileSync(path.join(root, file), 'utf8');
    texts.set(file, text);
    return text;
  };
  const problems: string[] = [];
  for (const { spans, isEntry } of placesOf(readFileSync(path.join(root, document), 'utf8'))) {
    const named = spans.filter((span) => FILE.test(span));
    const filesOfNames = named.map((name) => files.filter((file) => `/${file}`.endsWith(`/${name}`)));
    for (const [index, name] of named.entries()) {
      if (filesOfNames[index]?.length === 0) problems.push(`${document}: names ${name}, which does not exist`);
    }
    const sources = isEntry && named.length > 0 ? filesOfNames.flat() : files;
    for (const name of spans.filter((span) => FUNCTION.test(span))) {
      const word = new RegExp(`\\b${name}\\b`);
      if (!sources.some((file) => word.test(textOf(file)))) {
        problems.push(`${document}: names ${name}, which is not in ${isEntry ? named.join(', ') : 'any source'}`);
      }
    }
  }
  return problems;
}

/** Code spans that belong together; in an entry, functions are of the files. */
interface Place {
  spans: string[];
  isEntry: boolean;
}

function placesOf(text: string): Place[] {
  return marked.lexer(text).flatMap((token): Place[] => {
    if (token.type === 'code') return [];
    if (token.type !== 'table') return [{ spans: spansIn([token]), isEntry: false }];
    const spansOf = (cells: readonly Tokens.TableCell[]) => spansIn(cells.flatMap(({ tokens }) => tokens));
    return (token as Tokens.Table).rows.flatMap((cells) => [
      { spans: spansOf(cells.slice(0, 2)), isEntry: true },
      { spans: spansOf(cells.slice(2)), isEntry: false },
    ]);
  });
}

export function spansIn(tokens: readonly Token[]): string[] {
  const spans: string[] = [];
  void marked.walkTokens([...tokens], (token) => {
    if (token.type === 'codespan') spans.push((token as Tokens.Codespan).text);
  });
  return spans;
}

function* sourcesIn(root: string, folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* sourcesIn(root, file);
    else if (FILE.test(entry.name)) yield file;
  }
}

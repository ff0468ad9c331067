import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const CONTRACT = 'docs/contract';
const SKIPPED = new Set(['.git', 'node_modules', '.tocsin', 'coverage', 'dist']);
const NAMING = /\.(?:ts|mjs|js|md)$/;
const COMMENT = /\/\*[^]*?\*\/|\/\/.*(?:\n\s*\/\/.*)*/g;
/** `(contract: Alerts, Order)`, or a comment that is nothing else. */
const NAMES = /\(contract: ([^()]+)\)|^\/\*\* contract: (.+) \*\/$/g;

/**
 * Checks that the sections which comments and READMEs name as `(contract: Idempotency)` are headings of the contract.
 * @returns the problems
 */
export function inspectSections(root: string): string[] {
  const headings = new Set(
    readdirSync(path.join(root, CONTRACT)).flatMap((page) =>
      [...readFileSync(path.join(root, CONTRACT, page), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading),
    ),
  );
  return [...filesIn(root, '')].flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const places = file.endsWith('.md') ? [text] : (text.match(COMMENT) ?? []);
    return places
      .map((place) => place.replaceAll(/\n *(?:\*(?!\/)|\/\/)?/g, ' ').replaceAll(/\s+/g, ' '))
      .flatMap((place) => [...place.matchAll(NAMES)])
      .flatMap(([, inBrackets, alone]) => (inBrackets ?? alone ?? '').split(', '))
      .filter((section) => !headings.has(section))
      .map((section) => `${file}: names the section ${section}, which is not in ${CONTRACT}`);
  });
}

function* filesIn(root: string, folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(root, file);
    else if (entry.isFile() && NAMING.test(entry.name)) yield file;
  }
}

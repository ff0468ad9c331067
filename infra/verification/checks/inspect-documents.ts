import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';

/** Folders that git ignores, and git's own. */
const SKIPPED = new Set(['.git', 'node_modules', '.tocsin', 'coverage', 'dist']);
const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;
const INDENTS = ['', '  ', '    ', '      '];
/** A fenced block that quotes a file names it after its language: `nginx file=examples/nginx.conf`. */
const QUOTED = /\bfile=(\S+)/;

/**
 * Commands that take what somebody else may have registered under our names: packages and images by their bare name. A
 * file or folder begins with a dot or a slash; `-w` and `--workspace` name packages of the repository.
 */
const BY_NAME = [
  /\b(?:npx|bunx|(?:npm|pnpm|yarn|bun) (?:x|exec|dlx|create|init))\b[^\n`|;&]*?\s@?tocsin\b/,
  /"(?:npx|bunx)"[^}]*?"@?tocsin\b/,
  /\b(?:npm|pnpm|yarn|bun) (?:i|install|add)\b(?:(?!\s(?:-w|--workspace)\s)[^\n`|;&])*?\s(?:@tocsin\/[\w-]+|tocsin)(?![\w./-])/,
  /\b(?:docker|podman) (?:pull|run)\b[^\n`|;&]*?\s(?:docker\.io\/)?tocsin\/[\w-]+/,
  /\bimage: (?:docker\.io\/)?tocsin\//,
];

const ADR_INDEX = 'docs/adr/README.md';

/** The headings of a Markdown file, its links and its quotes. */
interface Document {
  anchors: ReadonlySet<string>;
  links: string[];
  quotes: { file: string; text: string }[];
  installed: string[];
}

export interface DocumentReport {
  documents: number;
  links: number;
  quotes: number;
  /** Lines that name the document and the problem. */
  problems: string[];
}

/**
 * Checks every Markdown file below `root`. A relative link must point to a file or folder below `root` and, if it has a
 * fragment, to a heading of that Markdown file, named as GitHub names headings. A fenced block with `file=<relative
 * path>` must be a part of that file, so that documents show the examples that are tested. The index of decisions links
 * each of them. No document installs what is
 * ours by a name (docs/guides/releasing.md: Names).
 */
export function inspectDocuments(root: string): DocumentReport {
  const report: DocumentReport = { documents: 0, links: 0, quotes: 0, problems: [] };
  const documents = new Map<string, Document>();
  const documentAt = (file: string): Document => {
    const document = documents.get(file) ?? readDocument(readFileSync(file, 'utf8'));
    documents.set(file, document);
    return document;
  };
  for (const file of markdownIn(root)) {
    const { links, quotes, installed } = documentAt(file);
    const relative = links.filter((link) => !ABSOLUTE.test(link));
    report.documents += 1;
    report.links += relative.length;
    report.quotes += quotes.length;
    const addProblem = (problem: string) => report.problems.push(`${path.relative(root, file)}: ${problem}`);
    for (const link of relative) {
      const problem = findLinkProblem({ root, file, link, documentAt });
      if (problem !== undefined) addProblem(`the link ${link} ${problem}`);
    }
    if (file === path.join(root, ADR_INDEX))
      for (const page of readdirSync(path.dirname(file)))
        if (page !== path.basename(file) && !links.includes(page)) addProblem(`lacks a link to ${page}`);
    for (const command of installed) addProblem(`installs by name: ${command}`);
    for (const quote of quotes) {
      const source = path.resolve(path.dirname(file), quote.file);
      if (!existsSync(source)) addProblem(`quotes ${quote.file}, which does not exist`);
      else if (!isPartOf(readFileSync(source, 'utf8'), quote.text)) addProblem(`does not match ${quote.file}`);
    }
  }
  return report;
}

/** A quote may omit the indentation that the part has in its file. */
const isPartOf = (source: string, quote: string): boolean =>
  INDENTS.some((indent) => source.includes(quote.replaceAll(/^(?=.)/gm, indent)));

function findLinkProblem(options: {
  root: string;
  file: string;
  link: string;
  documentAt: (file: string) => Document;
}): string | undefined {
  const { root, file, link, documentAt } = options;
  const [where = '', fragment] = link.split('#', 2).map(decodeURIComponent);
  const target = where === '' ? file : path.resolve(path.dirname(file), where);
  if (path.relative(root, target).startsWith('..')) return 'points outside the repository';
  if (!existsSync(target)) return 'points to no file';
  if (fragment === undefined) return undefined;
  if (!target.endsWith('.md') || statSync(target).isDirectory())
    return 'has a fragment but does not point to a Markdown file';
  return documentAt(target).anchors.has(fragment)
    ? undefined
    : `points to no heading of ${path.relative(root, target)}`;
}

function readDocument(text: string): Document {
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  const links: string[] = [];
  const quotes: Document['quotes'] = [];
  // walkTokens returns promises only if the callback does.
  void marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'heading') anchors.add(slugger.slug(plainText((token as Tokens.Heading).tokens)));
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link | Tokens.Image).href);
    if (token.type !== 'code') return;
    const { lang = '', text: code } = token as Tokens.Code;
    const quoted = QUOTED.exec(lang)?.[1];
    if (quoted !== undefined) quotes.push({ file: quoted, text: code });
  });
  const installed = BY_NAME.flatMap((pattern) => pattern.exec(text)?.[0].replaceAll(/\s+/g, ' ') ?? []);
  return { anchors, links, quotes, installed };
}

/** The text of a heading without markup. */
const plainText = (tokens: readonly Token[]): string =>
  tokens.map((token) => ('tokens' in token ? plainText(token.tokens ?? []) : textOf(token))).join('');

const textOf = (token: Token): string => ('text' in token ? String(token.text) : token.raw);

function* markdownIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* markdownIn(file);
    else if (entry.isFile() && entry.name.endsWith('.md')) yield file;
  }
}

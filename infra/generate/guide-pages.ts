import { readFile } from 'node:fs/promises';
import path from 'node:path';
import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';
import type { GuideElement, GuideNode, GuidePage, GuidePages } from '../../gateway/src/description.ts';
import { ROOT } from '../installation/environment.ts';
import { jsonText } from './formatted.ts';
import { addressInReference } from './guides.ts';

const OVERVIEW = 'docs/README.md';
const FOLDER = 'docs/guides';

/** The pages of the guides. They are trees of elements, so that no renderer has to trust or clean HTML. */
export const guidePagesFile = {
  file: 'gateway/guide-pages.json',
  generate: async () => {
    const overview = marked.lexer(await readFile(path.join(ROOT, OVERVIEW), 'utf8'));
    const groups: GuidePages['groups'] = [];
    for (const token of overview) {
      if (token.type === 'heading') groups.push({ title: plainText((token as Tokens.Heading).tokens), guides: [] });
      for (const name of namesIn(token)) groups.at(-1)?.guides.push(await readGuide(name));
    }
    const pages: GuidePages = { groups: groups.filter(({ guides }) => guides.length > 0) };
    return jsonText(pages);
  },
};

/** The guides that a part of the overview links to, in its order. */
function namesIn(part: Token): Set<string> {
  const names = new Set<string>();
  // walkTokens returns promises only if the callback does.
  void marked.walkTokens([part], (token) => {
    const name = /^guides\/([\w-]+)\.md$/.exec((token as Partial<Tokens.Link>).href ?? '')?.[1];
    if (name !== undefined) names.add(name);
  });
  return names;
}

async function readGuide(name: string): Promise<GuidePage> {
  const file = `${FOLDER}/${name}.md`;
  const [title, ...tokens] = marked.lexer(await readFile(path.join(ROOT, file), 'utf8'));
  if (title?.type !== 'heading') throw new Error(`${file} does not begin with its title`);
  const slugger = new GithubSlugger();
  const text = plainText((title as Tokens.Heading).tokens);
  slugger.slug(text);
  return { name, title: text, nodes: nodesOf(tokens, { file, slugger }) };
}

interface Context {
  file: string;
  slugger: GithubSlugger;
}

const nodesOf = (tokens: readonly Token[] | undefined, context: Context): GuideNode[] =>
  (tokens ?? []).flatMap((token) => nodeOf(token, context));

/** @throws Error for what a page does not show, such as HTML */
function nodeOf(token: Token, context: Context): GuideNode | GuideNode[] {
  const element = (tag: GuideElement['tag'], { tokens }: { tokens?: Token[] } = token as Tokens.Paragraph) => ({
    tag,
    children: nodesOf(tokens, context),
  });
  switch (token.type) {
    case 'space':
      return [];
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      return { ...element(depth === 2 ? 'h2' : 'h3'), id: context.slugger.slug(plainText(tokens)) };
    }
    case 'paragraph':
      return element('p');
    case 'strong':
    case 'em':
      return element(token.type);
    case 'codespan':
      return { tag: 'code', children: [(token as Tokens.Codespan).text] };
    case 'code':
      return { tag: 'pre', children: [(token as Tokens.Code).text] };
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const children = items.map((item) => element('li', item));
      return ordered ? { tag: 'ol', start: Number(start), children } : { tag: 'ul', children };
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      const row = (tag: 'th' | 'td', cells: readonly Tokens.TableCell[]): GuideElement => ({
        tag: 'tr',
        children: cells.map((cell) => element(tag, cell)),
      });
      const head: GuideElement = { tag: 'thead', children: [row('th', header)] };
      return { tag: 'table', children: [head, { tag: 'tbody', children: rows.map((cells) => row('td', cells)) }] };
    }
    case 'link': {
      const href = addressOf((token as Tokens.Link).href, context.file);
      return href === undefined ? element('p').children : { ...element('a'), href };
    }
    case 'text': {
      const { text, tokens } = token as Tokens.Text;
      return tokens === undefined ? text.replaceAll('\n', ' ') : nodesOf(tokens, context);
    }
    default:
      throw new Error(`${context.file}: no page shows ${token.type}: ${token.raw}`);
  }
}

/**
 * Links to guides are relative to the page, and those to the contract lead to the reference. Other relative links lead
 * nowhere; their texts stay.
 */
function addressOf(target: string, file: string): string | undefined {
  if (/^(?:https?:|#)/.test(target)) return target;
  const guide = /^([\w-]+)\.md(#.+)?$/.exec(target);
  if (guide) return `${guide[1]}${guide[2] ?? ''}`;
  return addressInReference(file, target);
}

const plainText = (tokens: readonly Token[]): string =>
  tokens.map((token) => ('tokens' in token ? plainText(token.tokens ?? []) : (token as Tokens.Text).text)).join('');

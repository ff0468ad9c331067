import { setImmediate } from 'node:timers/promises';
import { isWebAddress } from '@tocsin/schemas/markdown';
import { Marked, type Tokens } from 'marked';

/** What the page may do: nothing but show itself. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** Characters of Markdown that are converted at once: some milliseconds. */
const CHUNK = 16_384;

const STYLE = `body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff}
h1,h2,h3,h4,h5,h6,p,li,td,th,blockquote{unicode-bidi:plaintext;text-align:start;overflow-wrap:anywhere}
h1,h2,h3{line-height:1.25}h2{margin-top:2rem;border-bottom:1px solid #ccc}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #ccc;padding:.25rem .5rem;vertical-align:top}
pre{overflow-x:auto;padding:.5rem;background:#f4f4f4}blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid #ccc}
@media print{body{max-width:none;margin:0;font-size:10pt}h2,h3{break-after:avoid}tr,pre,blockquote{break-inside:avoid}pre{white-space:pre-wrap}table{display:table}a{color:inherit}}`;

/** A text as HTML has it; character references of Markdown stay. */
const escapeHtml = (text: string): string =>
  text
    .replaceAll(/&(?!#\d{1,7};|#[xX][\da-fA-F]{1,6};|\w{1,32};)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

const isSafe = (url: string): boolean => isWebAddress(url) || /^mailto:[^\s<>]+$/i.test(url);

// HTML is no markup here: of tags only the line break of a cell is one, and comments are left out. So every character that
// the renderer does not write itself is escaped.
const marked = new Marked({
  gfm: true,
  async: false,
  tokenizer: {
    html: () => undefined,
    tag(source) {
      const [comment] = /^<!--[\s\S]*?-->/.exec(source) ?? [];
      const raw = comment ?? /^<br ?\/?>/i.exec(source)?.[0];
      if (raw === undefined) return undefined;
      return { type: 'html', raw, text: raw, block: false, inLink: false, inRawBlock: false };
    },
  },
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag): string => (text.startsWith('<!--') ? '' : '<br>'),
    text(token): string {
      const { tokens } = token as Tokens.Text;
      return tokens === undefined ? escapeHtml(token.text) : this.parser.parseInline(tokens);
    },
    code: ({ text }) => `<pre><code>${escapeAll(text)}</code></pre>\n`,
    codespan: ({ text }) => `<code>${escapeAll(text)}</code>`,
    link({ href, tokens, raw }) {
      if (!isSafe(href)) return escapeHtml(raw);
      return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${this.parser.parseInline(tokens)}</a>`;
    },
    // Whoever looks at a page must not tell another site.
    image: ({ href, text, raw }) =>
      isSafe(href)
        ? `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${escapeHtml(text || href)}</a>`
        : escapeHtml(raw),
  },
});

/** Code has no character references. */
const escapeAll = (text: string): string => escapeHtml(text.replaceAll('&', '&amp;'));

/** Returns Markdown as an HTML page that stands alone, has no scripts and can be printed (contract: Post-mortems). */
export async function htmlPage(title: string, markdown: string): Promise<string> {
  const parts: string[] = [];
  for (const chunk of chunksOf(markdown)) {
    parts.push(marked.parse(chunk, { async: false }));
    await setImmediate();
  }
  // A list that two chunks have is one.
  const body = parts.join('').replaceAll('</ul>\n<ul>\n', '');
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeAll(title)}</title><style>${STYLE}</style>`;
  return `<!doctype html>\n<html lang="en" dir="auto"><head>${head}</head><body><main>\n${body}</main></body></html>\n`;
}

/** Divides Markdown before headings and items of its lists, outside of code. */
function* chunksOf(markdown: string): Generator<string> {
  let lines: string[] = [];
  let length = 0;
  let fence = '';
  for (const line of markdown.split('\n')) {
    const [, mark = ''] = /^ *(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === '' && length >= CHUNK && /^(?:#{1,6}|-) /.test(line)) {
      yield lines.join('\n');
      [lines, length] = [[], 0];
    }
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
    lines.push(line);
    length += line.length + 1;
  }
  yield lines.join('\n');
}

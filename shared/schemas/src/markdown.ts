// The part of Markdown that notes may have: what the console shows of it is what a post-mortem exports. Everything else is
// text. No part can begin again inside of another one, so that the time is proportional to the text.

/** A part of a line. The children of strong and emphasised text are no such texts again. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong'; children: Inline[] }
  | { kind: 'em'; children: Inline[] }
  | { kind: 'link'; text: string; url: string };

/** Lines that belong together, without what makes them a heading or an item. */
export interface Block {
  kind: 'heading' | 'bullets' | 'numbers' | 'quote' | 'code' | 'text';
  /** Of a heading: 1 to 6. */
  level: number;
  lines: string[];
}

/** Some readers take every line break of Unicode for the end of a line. */
export const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

export const isWebAddress = (value: string): boolean => /^https?:\/\/[^\s/?#]\S*$/i.test(value) && URL.canParse(value);

/** Around emphasis, as CommonMark has it for every character that may be inside. */
const BEFORE = '(?<=^|[\\s\\p{P}\\p{S}])(?<!\\*)';
const AFTER = '(?=$|[\\s\\p{P}\\p{S}])(?!\\*)';

const INLINE = new RegExp(
  [
    '(?<!`)`(?<code>[^`\\n]+)`(?!`)',
    `${BEFORE}\\*\\*(?=\\S)(?<strong>[^*\\n]+)(?<=\\S)\\*\\*${AFTER}`,
    `${BEFORE}\\*(?=\\S)(?<em>[^*\\n]+)(?<=\\S)\\*${AFTER}`,
    // A picture is a link: whoever looks at a page must not tell another site.
    '!?\\[(?<label>[^[\\]\\n]{1,500})\\]\\((?<target>[^\\s()]{1,2048})\\)',
    '<(?<auto>https?://[^\\s<>]{1,2048})>',
    '(?<url>https?://[^\\s<>"`*]+)',
  ].join('|'),
  'gu',
);

/** Of an address in a sentence, what is not part of it. */
function splitUrl(text: string): [url: string, punctuation: string] {
  const isOpen = text.includes('(');
  let end = text.length;
  while (/[.,;:!?'\]]/.test(text.charAt(end - 1)) || (!isOpen && text.charAt(end - 1) === ')')) end -= 1;
  return [text.slice(0, end), text.slice(end)];
}

/** The parts of a line. Only addresses of the web are links. */
export function inlinesOf(line: string): Inline[] {
  const parts: Inline[] = [];
  const addText = (text: string) => {
    const last = parts.at(-1);
    if (last?.kind === 'text') last.text += text;
    else if (text !== '') parts.push({ kind: 'text', text });
  };
  let end = 0;
  for (const match of line.matchAll(INLINE)) {
    const [whole] = match;
    const { code, strong, em, label, target, auto, url = '' } = match.groups ?? {};
    addText(line.slice(end, match.index));
    end = match.index + whole.length;
    const [address, punctuation] =
      target === undefined && auto === undefined ? splitUrl(url) : [target ?? auto ?? '', ''];
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (strong !== undefined) parts.push({ kind: 'strong', children: inlinesOf(strong) });
    else if (em !== undefined) parts.push({ kind: 'em', children: inlinesOf(em) });
    else if (isWebAddress(address)) {
      parts.push({ kind: 'link', text: label ?? address, url: address });
      addText(punctuation);
    } else addText(whole);
  }
  addText(line.slice(end));
  return parts;
}

/** How lines of a kind begin; every other line belongs to a paragraph. */
const BEGINNINGS = {
  heading: /^(#{1,6}) +(?=\S)/,
  bullets: /^ *[-*+] +(?=\S)/,
  numbers: /^ *\d{1,9}[.)] +(?=\S)/,
  quote: /^ {0,3}> ?/,
} as const;
const KINDS = Object.keys(BEGINNINGS) as (keyof typeof BEGINNINGS)[];

/** The blocks of a text, one after the other: none is inside of another one. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const line of text.split(LINE_BREAK)) {
    if (line.startsWith('```')) {
      const isEnd = open?.kind === 'code';
      open = isEnd ? undefined : { kind: 'code', level: 0, lines: [] };
      if (open !== undefined) blocks.push(open);
    } else if (open?.kind === 'code') {
      open.lines.push(line);
    } else if (line.trim() === '') {
      open = undefined;
    } else {
      const kind = KINDS.find((each) => BEGINNINGS[each].test(line)) ?? 'text';
      const [beginning = '', marks = ''] = kind === 'text' ? [] : (BEGINNINGS[kind].exec(line) ?? []);
      const shown = line.slice(beginning.length);
      if (open?.kind === kind && kind !== 'heading') open.lines.push(shown);
      else blocks.push((open = { kind, level: marks.length, lines: [shown] }));
    }
  }
  return blocks;
}

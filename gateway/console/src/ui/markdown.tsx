import { Fragment, type ReactNode } from 'react';
import css from './ui.module.css';

const SCHEMES = ['http:', 'https:', 'mailto:'];

/** A link to another site, which does not learn where it was followed. Other schemes stay text. */
export const SafeLink = ({ href, children }: { href: string; children: ReactNode }) =>
  SCHEMES.includes(URL.parse(href)?.protocol ?? '') ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    children
  );

// No part can begin again inside of another one, so that the time is proportional to the text.
const INLINE = new RegExp(
  [
    '`(?<code>[^`\\n]+)`',
    '\\*\\*(?<bold>[^*\\n]+)\\*\\*',
    '(?<![\\w*])\\*(?=[^\\s*])(?<italic>[^*\\n]+)(?<!\\s)\\*(?![\\w*])',
    '\\[(?<label>[^[\\]\\n]{1,500})\\]\\((?<target>[^\\s()]{1,2048})\\)',
    '(?<url>https?://[^\\s<>"`*]+)',
  ].join('|'),
  'gu',
);

/** Of an address in a sentence, what is not part of it. */
function splitUrl(text: string): [url: string, rest: string] {
  const isOpen = text.includes('(');
  let end = text.length;
  while (/[.,;:!?'\]]/.test(text.charAt(end - 1)) || (!isOpen && text.charAt(end - 1) === ')')) end -= 1;
  return [text.slice(0, end), text.slice(end)];
}

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const { code, bold, italic, label, target, url } = match.groups ?? {};
    if (code !== undefined) parts.push(<code>{code}</code>);
    else if (bold !== undefined) parts.push(<strong>{inline(bold)}</strong>);
    else if (italic !== undefined) parts.push(<em>{inline(italic)}</em>);
    else if (label !== undefined && target !== undefined) parts.push(<SafeLink href={target}>{label}</SafeLink>);
    else if (url !== undefined) {
      const [href, rest] = splitUrl(url);
      parts.push(<SafeLink href={href}>{href}</SafeLink>, rest);
    }
  }
  parts.push(text.slice(end));
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}

/** The kinds of lines that are together one block; every other line belongs to a paragraph. */
const BLOCKS = {
  heading: /^#{1,6} +(?=\S)/,
  bullets: /^ {0,3}[-*+] +(?=\S)/,
  numbers: /^ {0,3}\d{1,9}[.)] +(?=\S)/,
  quote: /^ {0,3}> ?/,
} as const;
type Kind = keyof typeof BLOCKS | 'code' | 'blank' | 'text';

const kindOf = (line: string): Kind =>
  line.trim() === ''
    ? 'blank'
    : ((Object.keys(BLOCKS) as (keyof typeof BLOCKS)[]).find((kind) => BLOCKS[kind].test(line)) ?? 'text');

function blocksOf(text: string): { kind: Kind; lines: string[] }[] {
  const blocks: { kind: Kind; lines: string[] }[] = [];
  let isCode = false;
  for (const line of text.split(/\r?\n/)) {
    const last = blocks.at(-1);
    if (line.startsWith('```')) {
      isCode = !isCode;
      blocks.push({ kind: isCode ? 'code' : 'blank', lines: [] });
    } else if (isCode) {
      last?.lines.push(line);
    } else {
      const kind = kindOf(line);
      const shown = kind in BLOCKS ? line.replace(BLOCKS[kind as keyof typeof BLOCKS], '') : line;
      if (last?.kind === kind && kind !== 'heading') last.lines.push(shown);
      else blocks.push({ kind, lines: [shown] });
    }
  }
  return blocks.filter(({ kind }) => kind !== 'blank');
}

function Block({ kind, lines }: { kind: Kind; lines: readonly string[] }) {
  const items = lines.map((line, index) => <li key={index}>{inline(line)}</li>);
  if (kind === 'bullets') return <ul>{items}</ul>;
  if (kind === 'numbers') return <ol>{items}</ol>;
  if (kind === 'code') return <pre tabIndex={0}>{lines.join('\n')}</pre>;
  if (kind === 'quote') return <blockquote>{inline(lines.join('\n'))}</blockquote>;
  return <p className={kind === 'heading' ? css.strong : undefined}>{inline(lines.join('\n'))}</p>;
}

/**
 * A text with a small part of Markdown: paragraphs, headings, lists, quotes, code, bold, italic and links. Line breaks
 * stay. HTML is shown as it was written.
 */
export const Markdown = ({ text }: { text: string }) => (
  <div className={css.markdown}>
    {blocksOf(text).map((block, index) => (
      <Block key={index} {...block} />
    ))}
  </div>
);

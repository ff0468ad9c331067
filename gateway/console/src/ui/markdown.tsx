import { blocksOf, type Block as Lines, type Inline, inlinesOf } from '@tocsin/schemas/markdown';
import { PLACEHOLDER } from '@tocsin/schemas/postmortem-template';
import { createContext, type ReactNode, useContext } from 'react';
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

/** What stands for a placeholder in a line; undefined leaves it as it is written. */
type Fill = (name: string) => string | undefined;
const Filling = createContext<Fill>(() => undefined);

function Text({ text }: { text: string }) {
  const fill = useContext(Filling);
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) => fill(name) ?? placeholder);
}

const inline = (text: string): ReactNode[] => inlinesOf(text).map(show);

function show(part: Inline, index: number): ReactNode {
  if (part.kind === 'code') return <code key={index}>{part.text}</code>;
  if (part.kind === 'strong') return <strong key={index}>{part.children.map(show)}</strong>;
  if (part.kind === 'em') return <em key={index}>{part.children.map(show)}</em>;
  if (part.kind === 'text') return <Text key={index} text={part.text} />;
  return (
    <SafeLink key={index} href={part.url}>
      {part.text}
    </SafeLink>
  );
}

function Block({ kind, lines }: Lines) {
  const items = lines.map((line, index) => <li key={index}>{inline(line)}</li>);
  if (kind === 'bullets') return <ul>{items}</ul>;
  if (kind === 'numbers') return <ol>{items}</ol>;
  if (kind === 'code') return <pre tabIndex={0}>{lines.join('\n')}</pre>;
  if (kind === 'quote') return <blockquote>{inline(lines.join('\n'))}</blockquote>;
  return <p className={kind === 'heading' ? css.strong : undefined}>{inline(lines.join('\n'))}</p>;
}

/**
 * A text with a small part of Markdown: paragraphs, headings, lists, quotes, code, bold, italic and links. Line breaks
 * stay. HTML is shown as it was written, and what stands for a placeholder is no markup.
 */
export const Markdown = ({ text, fill = () => undefined }: { text: string; fill?: Fill }) => (
  <Filling value={fill}>
    <div className={css.markdown}>
      {blocksOf(text).map((block, index) => (
        <Block key={index} {...block} />
      ))}
    </div>
  </Filling>
);

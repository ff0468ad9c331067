import type { Postmortem } from '@tocsin/sdk';
import { isPlaceholder, PLACEHOLDER, type Placeholder, standsInLine } from '@tocsin/schemas/postmortem-template';
import { formatTime } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import css from './postmortem.module.css';
import { PostmortemPart } from './postmortem-parts.tsx';

/** What people call the placeholders. */
export const PLACEHOLDER_NAMES = {
  reference: 'Reference',
  title: 'Title',
  status: 'Status',
  severity: 'Severity',
  overview: 'Overview',
  summary: 'Impact summary',
  moments: 'Moments',
  people: 'People',
  services: 'Services and team',
  custom_fields: 'Custom fields',
  activity: 'Timeline and changes',
  relations: 'Related incidents',
  follow_ups: 'Follow-ups',
  evidence: 'Links and files',
  generated_at: 'Time of reading',
} as const satisfies Record<Placeholder, string>;

/** Those that stand in a line. */
const IN_LINE: Readonly<Record<string, (postmortem: Postmortem) => string>> = {
  reference: ({ human_id: reference }) => reference,
  title: ({ title }) => title,
  status: ({ status }) => status.label,
  severity: ({ severity }) => severity.label,
  generated_at: ({ generated_at: time }) => formatTime(time),
};

type Piece = { text: string } | { part: Placeholder };

/** A text, and the live parts that stand alone in a line of it. */
function piecesOf(body: string): Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let isCode = false;
  const endText = () => {
    if (lines.some((line) => line.trim() !== '')) pieces.push({ text: lines.join('\n') });
    lines = [];
  };
  for (const line of body.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const name = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(line)?.[1] ?? '';
    if (isCode || !isPlaceholder(name) || standsInLine(name)) lines.push(line);
    else {
      endText();
      pieces.push({ part: name });
    }
  }
  endText();
  return pieces;
}

/** The text of a section. Without a post-mortem, its live parts are only named. */
export const SectionText = ({ body, postmortem }: { body: string; postmortem?: Postmortem | undefined }) =>
  piecesOf(body).map((piece, index) => {
    if ('text' in piece) return <Markdown key={index} text={piece.text} fill={(name) => inLine(name, postmortem)} />;
    return postmortem === undefined ? (
      <p key={index} className={css.placeholder}>
        {PLACEHOLDER_NAMES[piece.part]}
      </p>
    ) : (
      <PostmortemPart key={index} name={piece.part} postmortem={postmortem} />
    );
  });

/** The heading of a section. */
export const titleText = (title: string, postmortem?: Postmortem): string =>
  title.replaceAll(PLACEHOLDER, (placeholder, name: string) => inLine(name, postmortem) ?? placeholder);

function inLine(name: string, postmortem: Postmortem | undefined): string | undefined {
  if (!isPlaceholder(name) || !standsInLine(name)) return undefined;
  return postmortem === undefined ? `‹${PLACEHOLDER_NAMES[name]}›` : IN_LINE[name]?.(postmortem);
}

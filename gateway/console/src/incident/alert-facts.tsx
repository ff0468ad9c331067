import type { TimelineEvent } from '@tocsin/sdk';
import { LINE_BREAK } from '@tocsin/schemas/markdown';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Markdown } from '../ui/markdown.tsx';
import css from './activity.module.css';

/** Labels of an alert that are shown before somebody asks. */
const SHOWN = 6;
/** Characters and lines of a text that are. */
const MAX_TEXT = 600;
const MAX_LINES = 8;

const LABEL = /^- ([^\s:]+): (.*)$/;

/** The labels that the body of an alert's event ends with, and the text before them (contract: Alerts). */
function partsOfAlert({ body, created_by_key: key }: Pick<TimelineEvent, 'body' | 'created_by_key'>) {
  const paragraphs = body.split('\n\n');
  // Who reported it stands above the text.
  if (key !== null && paragraphs.at(-1) === `Reported with the API key ${key.name}.`) paragraphs.pop();
  const labels = (paragraphs.at(-1) ?? '').split(LINE_BREAK).map((line) => LABEL.exec(line));
  if (labels.includes(null)) return { text: paragraphs.join('\n\n'), labels: [] };
  paragraphs.pop();
  return {
    text: paragraphs.join('\n\n'),
    labels: labels.flatMap((match) => (match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const])),
  };
}

/** What a monitor said: its text, and its labels as a table; long ones in part. */
export function AlertFacts({ event }: { event: TimelineEvent }) {
  const { text, labels } = partsOfAlert(event);
  const [isTextOpen, setTextOpen] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const lines = text.split('\n');
  const isLong = text.length > MAX_TEXT || lines.length > MAX_LINES;
  const hidden = labels.length - SHOWN;
  return (
    <>
      {text !== '' && <Markdown text={isLong && !isTextOpen ? beginningOf(lines) : text} />}
      {isLong && (
        <Button kind="quiet" small aria-expanded={isTextOpen} onClick={() => setTextOpen(!isTextOpen)}>
          {isTextOpen ? 'Less text' : 'Whole text'}
        </Button>
      )}
      {labels.length > 0 && (
        <table className={css.labels} aria-label="Labels">
          <tbody>
            {labels.slice(0, isOpen || hidden === 1 ? undefined : SHOWN).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hidden > 1 && (
        <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer labels' : `${hidden} more labels`}
        </Button>
      )}
    </>
  );
}

const beginningOf = (lines: readonly string[]): string => {
  const beginning = lines.slice(0, MAX_LINES).join('\n').slice(0, MAX_TEXT).trimEnd();
  return `${beginning} …`;
};

import type { IncidentStatistics } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { classes } from '../ui/button.tsx';
import { formatDuration, plural } from '../ui/format.ts';
import ui from '../ui/ui.module.css';
import css from './statistics.module.css';

/** The part of a number from which on a difference says something. */
const NOTABLE = 0.01;

/** By how much a number differs from the one before. @param props `isWorse`: whether more of it is bad */
export function Delta({
  now,
  before,
  format,
  isWorse = false,
}: {
  now: number | undefined;
  before: number | undefined;
  format: (difference: number) => string;
  isWorse?: boolean;
}) {
  if (now === undefined || before === undefined) return null;
  const difference = now - before;
  if (difference === 0 || Math.abs(difference) < before * NOTABLE) return <span className={css.delta}>as before</span>;
  const tone = isWorse && (difference > 0 ? css.worse : css.better);
  return (
    <span className={classes(css.delta, tone)}>
      {format(Math.abs(difference))} {difference > 0 ? 'more' : 'less'}
    </span>
  );
}

function Figure({ name, about, children }: { name: string; about: ReactNode; children: ReactNode }) {
  return (
    <div className={css.figure}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd className={ui.hint}>{about}</dd>
    </div>
  );
}

const totalOf = ({ buckets }: IncidentStatistics): number => buckets.reduce((sum, { incidents }) => sum + incidents, 0);

const MEASURES = [
  ['MTTA: mean time to response', 'time_to_response'],
  ['MTTR: mean time to recovery', 'time_to_recovery'],
] as const;

/** The numbers of a span, against those of the time before that is as long. */
export function Figures({
  now,
  before,
  days,
}: {
  now: IncidentStatistics;
  before: IncidentStatistics | undefined;
  days: number;
}) {
  const since = `than in the ${days} days before`;
  return (
    <dl className={css.figures} aria-label={`More or less ${since}`}>
      <Figure name="Incidents" about={before && `${plural(totalOf(before), 'incident')} in the ${days} days before`}>
        {totalOf(now).toLocaleString('en')}{' '}
        <Delta now={totalOf(now)} before={before && totalOf(before)} format={(count) => count.toLocaleString('en')} />
      </Figure>
      {MEASURES.map(([name, measure]) => {
        const durations = now.all[measure];
        const last = before?.all[measure];
        return (
          <Figure
            key={measure}
            name={name}
            about={
              durations &&
              `Half within ${formatDuration(durations.median_seconds)}${last ? `; ${formatDuration(last.mean_seconds)} in the ${days} days before` : ''}`
            }
          >
            {durations === null ? 'Not known' : formatDuration(durations.mean_seconds)}{' '}
            <Delta isWorse now={durations?.mean_seconds} before={last?.mean_seconds} format={formatDuration} />
          </Figure>
        );
      })}
    </dl>
  );
}

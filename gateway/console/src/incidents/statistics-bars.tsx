import type { IncidentStatistics } from '@tocsin/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import { useConfiguration } from '../api/hooks.ts';
import { bucketFormat, plural } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { NUMBER, Table } from '../ui/table.tsx';
import type { ListSearch } from './incident-filters.ts';
import { useSeverityColour } from './incident-labels.tsx';
import css from './statistics.module.css';

type Bucket = IncidentStatistics['buckets'][number];

/** The incidents that a part of the statistics counts, as a list. */
export type Counted = (part: {
  from?: string;
  until?: string | undefined;
  service?: string;
  team?: number;
}) => ListSearch;

const WIDTH = 960;
const HEIGHT = 200;
const AXIS = 32;
/** Labels below the bars that fit. */
const MAX_LABELS = 8;

/** A severity that a bucket has. */
interface ShownSeverity {
  key: string;
  label: string;
  colour: string;
}

/** The severities that the buckets have, the most severe one first; then those that the configuration lacks. */
function useShownSeverities(buckets: readonly Bucket[]): ShownSeverity[] {
  const { severities } = useConfiguration();
  const colourOf = useSeverityColour();
  const keys = [
    ...new Set([...severities.map(({ key }) => key), ...buckets.flatMap((each) => Object.keys(each.by_severity))]),
  ];
  return keys
    .filter((key) => buckets.some((each) => (each.by_severity[key] ?? 0) > 0))
    .map((key) => ({
      key,
      label: severities.find((severity) => severity.key === key)?.label ?? key,
      colour: colourOf(key).colour,
    }));
}

/** Incidents by bucket, a part of the bar for each severity: the most severe one below, where it is compared best. */
export function Bars({
  statistics: { bucket, buckets, time_zone: timeZone },
  total,
  counted,
}: {
  statistics: IncidentStatistics;
  total: number;
  counted: Counted;
}) {
  const navigate = useNavigate();
  // The first bucket may begin before the span, which has only a part of it.
  const listOf = (index: number) =>
    counted({ ...(index > 0 && { from: buckets[index]?.starts_at }), until: buckets[index + 1]?.starts_at });
  const formatBucket = bucketFormat(bucket, timeZone);
  const severities = useShownSeverities(buckets);
  const top = niceTop(Math.max(...buckets.map(({ incidents }) => incidents)));
  const step = (WIDTH - AXIS) / buckets.length;
  const gap = Math.min(4, step / 4);
  const every = Math.ceil(buckets.length / MAX_LABELS);
  return (
    <Card
      title={`Incidents by ${bucket} (${timeZone})`}
      padded
      actions={
        <ul className={css.legend}>
          {severities.map(({ key, label, colour }) => (
            <li key={key}>
              <svg width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" rx="2" fill={colour} />
              </svg>
              {label}
            </li>
          ))}
        </ul>
      }
    >
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 36}`}
        className={css.bars}
        role="img"
        aria-label={`${plural(total, 'incident')} in ${plural(buckets.length, bucket)}; the numbers are in the table below.`}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line x1={AXIS} x2={WIDTH} y1={8 + HEIGHT * (1 - part)} y2={8 + HEIGHT * (1 - part)} className={css.grid} />
            <text x={AXIS - 8} y={12 + HEIGHT * (1 - part)} textAnchor="end">
              {top * part}
            </text>
          </g>
        ))}
        {buckets.map((each, index) => {
          const x = AXIS + index * step + gap / 2;
          return (
            <g
              key={each.starts_at}
              className={css.bar}
              // The table has the same links for the keyboard.
              onClick={() => void navigate({ to: '/', search: listOf(index) })}
            >
              <rect x={x} y={8} width={step - gap} height={HEIGHT} className={css.hit} />
              <Bar counts={each.by_severity} severities={severities} top={top} x={x} width={step - gap} />
              {index % every === 0 && (
                <text x={x} y={HEIGHT + 28}>
                  {formatBucket(each.starts_at)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <BucketTable {...{ buckets, severities, formatBucket, listOf }} />
    </Card>
  );
}

/** @param props.top the count that is as high as the chart */
function Bar({
  counts,
  severities,
  top,
  x,
  width,
}: {
  counts: Bucket['by_severity'];
  severities: readonly ShownSeverity[];
  top: number;
  x: number;
  width: number;
}) {
  let y = 8 + HEIGHT;
  return severities.map(({ key, colour }) => {
    const part = ((counts[key] ?? 0) / top) * HEIGHT;
    y -= part;
    return part > 0 && <rect key={key} x={x} y={y} width={width} height={part} fill={colour} />;
  });
}

function BucketTable({
  buckets,
  severities,
  formatBucket,
  listOf,
}: {
  buckets: Bucket[];
  severities: readonly ShownSeverity[];
  formatBucket: (start: string) => string;
  listOf: (index: number) => ListSearch;
}) {
  return (
    <details className={css.data}>
      <summary>Show as a table</summary>
      <Table
        label="Incidents as a table"
        rows={buckets}
        keyOf={({ starts_at: start }) => start}
        columns={[
          [
            'From',
            (each) => (
              <Link to="/" search={listOf(buckets.indexOf(each))}>
                {formatBucket(each.starts_at)}
              </Link>
            ),
            { kind: 'head' },
          ],
          ...severities.map(({ key, label }) => [label, (each: Bucket) => each.by_severity[key] ?? 0, NUMBER] as const),
          ['All', ({ incidents }) => incidents, NUMBER],
        ]}
      />
    </details>
  );
}

/** The next even number that people read easily. */
function niceTop(value: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const nice = [1, 2, 4, 6, 8, 10].map((each) => each * size).find((each) => each >= value) ?? value;
  return Math.max(2, nice);
}

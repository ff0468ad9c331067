import type { Configuration, IncidentStatistics } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { query } from '../api/query.ts';
import { useConfiguration, useGet, useServices, useTeams } from '../api/hooks.ts';
import { formatDuration } from '../ui/format.ts';
import { Select, choices } from '../ui/fields.tsx';
import type { ListSearch } from './incident-filters.ts';
import { type Span, SPANS, type StatisticsSearch } from './statistics-search.ts';
import { Bars, type Counted } from './statistics-bars.tsx';
import { Delta, Figures } from './statistics-figures.tsx';
import { spanOf } from './statistics-span.ts';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import { NUMBER, Table } from '../ui/table.tsx';
import css from './statistics.module.css';

type Measured = Pick<IncidentStatistics['by_team'][number], 'time_to_response' | 'time_to_recovery'>;

const route = getRouteApi('/statistics');

export function StatisticsPage() {
  const { span = '30', severity } = route.useSearch();
  const navigate = useNavigate({ from: '/statistics' });
  const { severities } = useConfiguration();
  const [, days, bucket] = SPANS[span];
  // The same for the whole visit: another time would be another request with each drawing.
  const [now] = useState(() => Date.now());
  const settings = useGet<{ configuration: Configuration }>('/settings/configuration');
  const { from, before } = spanOf(days, { timeZone: settings.data?.configuration.time_zone ?? 'UTC', now });
  const enabled = !settings.isPending;
  const request = useGet<{ statistics: IncidentStatistics }>(
    `/incidents/statistics${query({ bucket, created_from: from, severity })}`,
    { enabled },
  );
  const former = useGet<{ statistics: IncidentStatistics }>(
    `/incidents/statistics${query({ bucket, created_from: before, created_before: from, severity })}`,
    { enabled },
  );
  const isOfOther = request.isPlaceholderData || former.isPlaceholderData;
  const change = (search: StatisticsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace: true });
  return (
    <Page
      title="Statistics"
      guide="incidents"
      lead="How often incidents happen, and how long it takes until somebody responds and until it is over."
      actions={
        <>
          <Select
            bare
            label="Severity"
            options={[['', 'Any severity'], ...choices(severities, 'key', 'label')]}
            value={severity ?? ''}
            onValue={(value) => change({ severity: value || undefined })}
          />
          <Select
            bare
            label="Span"
            options={Object.entries(SPANS).map(([key, [label]]) => [key as Span, label])}
            value={span}
            onValue={(value) => change({ span: value })}
          />
        </>
      }
    >
      <Loaded query={request} rows={10}>
        {({ statistics }) => (
          <Pictures
            {...{ statistics, severity, days, from }}
            former={isOfOther ? undefined : former.data?.statistics}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Pictures({
  statistics,
  former,
  severity,
  days,
  from,
}: {
  statistics: IncidentStatistics;
  /** Of the time before. */
  former: IncidentStatistics | undefined;
  severity: string | undefined;
  days: number;
  from: string;
}) {
  const { data: services = [] } = useServices();
  const { data: teams = [] } = useTeams();
  const counted: Counted = (part) => ({
    view: 'all',
    from,
    ...(severity !== undefined && { severity: [severity] }),
    ...part,
  });
  const total = statistics.buckets.reduce((sum, { incidents }) => sum + incidents, 0);
  if (total === 0) {
    return (
      <Card>
        <Empty title="No incident in this span" icon="chart">
          Choose a longer span, or another severity.
        </Empty>
      </Card>
    );
  }
  const byService = statistics.by_service.map(({ service, ...measured }) => ({
    name: services.find(({ slug }) => slug === service)?.name ?? (service || 'No service'),
    list: service === '' ? undefined : counted({ service }),
    former: former?.by_service.find((each) => each.service === service),
    ...measured,
  }));
  const byTeam = statistics.by_team.map(({ team_id: teamId, ...measured }) => ({
    name: teams.find(({ id }) => id === teamId)?.name ?? (teamId === null ? 'No team' : `Team ${teamId}`),
    list: teamId === null ? undefined : counted({ team: teamId }),
    former: former?.by_team.find((each) => each.team_id === teamId),
    ...measured,
  }));
  return (
    <div className={ui.stack}>
      <Figures now={statistics} before={former} days={days} />
      <Bars statistics={statistics} total={total} counted={counted} />
      {(
        [
          ['Time to recovery', 'time_to_recovery'],
          ['Time to response', 'time_to_response'],
        ] as const
      ).map(([title, measure]) => (
        <div key={measure} className={css.pair}>
          <DurationChart title={`${title} by service`} rows={byService} measure={measure} />
          <DurationChart title={`${title} by team`} rows={byTeam} measure={measure} />
        </div>
      ))}
    </div>
  );
}

/** How many groups are drawn; the API has more. */
const SHOWN = 8;

/** What stands for a moment that nobody recorded. */
const DERIVED = { time_to_response: 'the first act of another person', time_to_recovery: 'the status' } as const;

/** A line from the median to the 90th percentile for each group, with the numbers beside it. */
function DurationChart({
  title,
  rows,
  measure,
}: {
  title: string;
  rows: readonly (Measured & { name: string; list: ListSearch | undefined; former: Measured | undefined })[];
  measure: keyof Measured;
}) {
  const measured = rows
    .flatMap(({ name, list, former, [measure]: durations }) =>
      durations === null ? [] : [{ name, list, former: former?.[measure]?.mean_seconds, ...durations }],
    )
    .sort((a, b) => b.incidents - a.incidents)
    .slice(0, SHOWN);
  const longest = Math.max(1, ...measured.map(({ p90_seconds: seconds }) => seconds));
  const sumOf = (count: 'incidents' | 'derived') => measured.reduce((sum, each) => sum + each[count], 0);
  const derived = sumOf('derived');
  // Durations range from minutes to days: a linear scale would show only the longest.
  const place = (seconds: number) => `${(Math.log1p(seconds) / Math.log1p(longest)) * 100}%`;
  return (
    <Card title={title}>
      {measured.length === 0 ? (
        <Empty title="No duration is known" icon="chart">
          {measure === 'time_to_response'
            ? 'It is known once another person acts on an incident, or “Responded” is set.'
            : 'It is known once an incident is over.'}
        </Empty>
      ) : (
        <Table
          label={`${title} as a table`}
          rows={measured}
          keyOf={({ name }) => name}
          columns={[
            [
              title.endsWith('team') ? 'Team' : 'Service',
              ({ name, list }) =>
                list ? (
                  <Link to="/" search={list}>
                    {name}
                  </Link>
                ) : (
                  name
                ),
              { kind: 'head', className: css.name },
            ],
            [
              'Scale',
              ({ median_seconds: median, p90_seconds: p90 }) => (
                <svg width="100%" height="16">
                  <line x1="0" x2="100%" y1="8" y2="8" className={css.grid} />
                  <line x1={place(median)} x2={place(p90)} y1="8" y2="8" className={css.range} />
                  <circle cx={place(median)} cy="8" r="4" className={css.median} />
                </svg>
              ),
              { kind: 'picture', className: css.scale },
            ],
            [
              'Mean',
              ({ mean_seconds: mean, former }) => (
                <>
                  {formatDuration(mean)}
                  <Delta isWorse now={mean} before={former} format={formatDuration} />
                </>
              ),
              NUMBER,
            ],
            ['90 %', ({ p90_seconds: seconds }) => formatDuration(seconds), NUMBER],
            ['Incidents', ({ incidents }) => incidents.toLocaleString('en'), NUMBER],
          ]}
        />
      )}
      {derived > 0 && (
        <p className={`${ui.hint} ${css.derived}`}>
          {derived.toLocaleString('en')} of {sumOf('incidents').toLocaleString('en')} by {DERIVED[measure]}
        </p>
      )}
    </Card>
  );
}

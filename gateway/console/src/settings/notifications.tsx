import type { AlertNotification, Heartbeat, Query } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useApiKeys, useList } from '../api/hooks.ts';
import { choices, Select } from '../ui/fields.tsx';
import { formatName, plural } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { Empty, Loaded, More } from '../ui/states.tsx';
import { type Columns, Named, Table } from '../ui/table.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { type NotificationFilter, type Outcome, OUTCOMES } from './alerts-search.ts';
import { readableIdentity } from './identity.ts';

/** How many that were refused stand first. */
const REFUSED = 10;
/** Milliseconds: notifications that change no incident are in no event. */
export const EVERY = 10_000;

const FORMATS: Readonly<Record<AlertNotification['format'], string>> = {
  alertmanager: 'Alertmanager',
  azure: 'Azure Monitor',
  heartbeat: 'Heartbeat',
  pagerduty: 'PagerDuty',
  sentry: 'Sentry',
  tocsin: 'Tocsin',
};

export const incidentLink = ({ incident }: Pick<Heartbeat, 'incident'>) =>
  incident && (
    <Link to="/incidents/$id" params={{ id: incident.human_id }}>
      {incident.human_id}
    </Link>
  );

const COLUMNS: Columns<AlertNotification> = [
  ['When', ({ received_at: time }) => <Ago time={time} />],
  ['Monitor', ({ api_key: { name, prefix } }) => <Named name={name} about={<code>{prefix}…</code>} />],
  [
    'Alert',
    ({ identity, format, groups }) => (
      <>
        <span className={ui.identity} title={identity}>
          {readableIdentity(identity) || 'unknown'}
        </span>
        <p className={ui.muted}>
          {FORMATS[format]}
          {groups > 1 && `, ${plural(groups, 'group')}`}
        </p>
      </>
    ),
  ],
  [
    'Outcome',
    ({ outcome, reason, body_start: body }) => (
      <>
        <Badge tone={OUTCOMES.get(outcome)}>{formatName(outcome)}</Badge>
        {reason && <p className={ui.muted}>{reason}</p>}
        {body && (
          <details>
            <summary>Body</summary>
            <code className={ui.identity}>{body}</code>
          </details>
        )}
      </>
    ),
  ],
  ['Incident', incidentLink],
  [
    'Alerts',
    ({ started, ended, unchanged }) =>
      Object.entries({ started, ended, unchanged })
        .flatMap(([name, count]) => (count > 0 ? `${count.toLocaleString('en')} ${name}` : []))
        .join(', '),
  ],
];

/** Those that were refused stand first, unless somebody asks for others: a monitor does not say that it lacks something. */
export function Notifications({
  filter: { outcome, key },
  change,
}: {
  filter: NotificationFilter;
  change: (changes: NotificationFilter) => void;
}) {
  const { data: keys = [] } = useApiKeys();
  const monitors = keys.filter(({ scopes }) => scopes.includes('alerts:write'));
  const outcomes = outcome ?? [...OUTCOMES.keys()].filter((each) => each !== 'refused');
  const list = useNotifications({ outcome: outcomes, key_id: key });
  const refused = useNotifications({ outcome: 'refused', key_id: key, limit: REFUSED });
  const first = outcome === undefined ? (refused.data?.rows ?? []) : [];
  return (
    <Card
      title="Notifications of the last 7 days"
      actions={
        <>
          <Select
            bare
            label="Key"
            options={[['', 'Any key'], ...choices(monitors, 'id', 'name')]}
            value={String(key ?? '')}
            onValue={(value) => change({ key: value === '' ? undefined : Number(value) })}
          />
          <Select<Outcome | ''>
            bare
            label="Outcome"
            options={[['', 'Any outcome'], ...[...OUTCOMES.keys()].map((each) => [each, formatName(each)] as const)]}
            value={outcome ?? ''}
            onValue={(value) => change({ outcome: value || undefined })}
          />
        </>
      }
    >
      {first.length > 0 && refused.hasNextPage && (
        <p className={ui.hint}>{`The last ${REFUSED} that were refused stand first; the outcome Refused has all.`}</p>
      )}
      <Loaded query={list}>
        {({ rows: others }) => {
          const rows = [...first, ...others];
          if (rows.length > 0)
            return <Table label="Notifications" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />;
          if (outcome !== undefined || key !== undefined)
            return <Empty title="No notification matches" icon="search" />;
          return (
            <Empty title="No monitor has sent anything" icon="alert">
              What a monitor sends is here at once, also if it is refused.
            </Empty>
          );
        }}
      </Loaded>
      <More list={list} />
    </Card>
  );
}

const useNotifications = (parameters: Query) =>
  useList<AlertNotification>('/alerts', 'notifications', parameters, { every: EVERY });

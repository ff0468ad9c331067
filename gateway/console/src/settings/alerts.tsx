import { type AlertNotification, type Heartbeat, type SendAlertReply, TocsinError } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApiKeys, useGet, useList, useWrite } from '../api/hooks.ts';
import { type AlertsSearch, type Outcome, OUTCOMES } from './alerts-search.ts';
import { configurationFor, isMonitor, type Monitor, MONITORS } from './monitors/monitors.ts';
import { formatDuration, formatName, plural } from '../ui/format.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, Copy, FormDialog } from '../ui/dialogs.tsx';
import { choices, type Options, Select, TextArea } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, More } from '../ui/states.tsx';
import { type Columns, Named, Table } from '../ui/table.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

const FORMATS: Readonly<Record<AlertNotification['format'], string>> = {
  alertmanager: 'Alertmanager',
  azure: 'Azure Monitor',
  heartbeat: 'Heartbeat',
  pagerduty: 'PagerDuty',
  sentry: 'Sentry',
  tocsin: 'Tocsin',
};

const route = getRouteApi('/alerts');

/** Milliseconds: notifications that change no incident are in no event. */
const EVERY = 10_000;

export function AlertsPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/alerts' });
  const change = (changes: AlertsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false });
  return (
    <Page
      title="Alerts"
      guide="alerts"
      lead="Monitors declare incidents, write their timelines and end them, each with a key of its own."
    >
      <div className={ui.stack}>
        <SetUp
          monitor={isMonitor(search.monitor) ? search.monitor : 'alertmanager'}
          onMonitor={(monitor) => change({ monitor })}
        />
        <Heartbeats />
        <Notifications search={search} change={change} />
      </div>
    </Page>
  );
}

function SetUp({ monitor, onMonitor }: { monitor: Monitor; onMonitor: (monitor: Monitor) => void }) {
  const configuration = configurationFor(monitor, window.location);
  const [isTrying, setTrying] = useState(false);
  return (
    <Card
      title="Set up a monitor"
      padded
      actions={
        <>
          <Select bare label="Monitor" options={MONITORS} value={monitor} onValue={onMonitor} />
          <Button small onClick={() => setTrying(true)}>
            Try a body
          </Button>
        </>
      }
    >
      <div className={ui.field}>
        <p>
          Make a key for this monitor alone under <Link to="/keys">Keys and sessions</Link>, with the scope{' '}
          <code>alerts:write</code> and nothing else, and put its token in the place of <code>tcs_…</code>. You need a
          responder seat.
        </p>
        <pre className={ui.code}>{configuration}</pre>
        <Copy key={monitor} value={configuration} />
      </div>
      {isTrying && <TryBody onClose={() => setTrying(false)} />}
    </Card>
  );
}

const FORM_PATHS: Options = [
  ['/alerts', 'Tocsin'],
  ['/alerts/alertmanager', 'Alertmanager, Grafana'],
  ['/alerts/pagerduty', 'PagerDuty'],
  ['/alerts/sentry', 'Sentry'],
  ['/alerts/azure', 'Azure Monitor'],
];

/** Says what a body would do now, as the person who is signed in; nothing is carried out. */
function TryBody({ onClose }: { onClose: () => void }) {
  const [path, setPath] = useState('/alerts');
  const [text, setText] = useState('');
  const [unread, setUnread] = useState<TocsinError | null>(null);
  const act = useWrite<SendAlertReply>();
  const attempt = () => {
    act.reset();
    try {
      act.mutate({ path: `${path}?validate_only=true`, body: JSON.parse(text) as unknown });
      setUnread(null);
    } catch (error) {
      setUnread(new TocsinError('invalid_json', `The body is no JSON: ${(error as Error).message}`));
    }
  };
  return (
    <FormDialog
      title="Try a body"
      label="Try"
      busy={act.isPending}
      error={unread ?? act.error}
      onSubmit={attempt}
      onClose={onClose}
    >
      <Select label="Form" options={FORM_PATHS} value={path} onValue={setPath} />
      <TextArea
        label="Body"
        hint="What the monitor sends. Nothing is carried out."
        rows={12}
        spellCheck={false}
        value={text}
        onValue={setText}
      />
      <output>
        {act.data && (
          <ul>
            {act.data.results.map(({ identity, outcome, reason }) => (
              <li key={identity}>
                <code className={ui.identity}>{identity}</code>{' '}
                <Badge tone={OUTCOMES.get(outcome)}>{formatName(outcome)}</Badge> {reason}
              </li>
            ))}
            {act.data.left_out.map(({ field, reason }) => (
              <li key={`${field} ${reason}`}>
                Left out: <code>{field}</code>, {reason}
              </li>
            ))}
          </ul>
        )}
      </output>
    </FormDialog>
  );
}

const HEARTBEATS = '/alerts/heartbeats';

function Heartbeats() {
  const heartbeats = useGet<{ heartbeats: Heartbeat[] }>(HEARTBEATS, { every: EVERY });
  const [forgotten, setForgotten] = useState<Heartbeat>();
  const act = useWrite(HEARTBEATS);
  if (heartbeats.data?.heartbeats.length === 0) return null;
  return (
    <Card title="Heartbeats">
      <Loaded query={heartbeats}>
        {({ heartbeats: rows }) => (
          <Table
            label="Heartbeats"
            columns={HEARTBEAT_COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            actions={(heartbeat) => (
              <Button
                kind="quiet"
                small
                onClick={() => {
                  act.reset();
                  setForgotten(heartbeat);
                }}
              >
                Forget
              </Button>
            )}
          />
        )}
      </Loaded>
      {forgotten && (
        <Confirm
          title={`Forget ${forgotten.name}?`}
          label="Forget"
          busy={act.isPending}
          error={act.error}
          onClose={() => setForgotten(undefined)}
          onSubmit={() =>
            act.mutate(
              { method: 'DELETE', path: `${HEARTBEATS}/${forgotten.id}` },
              { onSuccess: () => setForgotten(undefined) },
            )
          }
        >
          Nobody is told any more when it does not come, until it comes again. Its incident stays as it is.
        </Confirm>
      )}
    </Card>
  );
}

const incidentLink = ({ incident }: Pick<Heartbeat, 'incident'>) =>
  incident && (
    <Link to="/incidents/$id" params={{ id: incident.human_id }}>
      {incident.human_id}
    </Link>
  );

const HEARTBEAT_COLUMNS: Columns<Heartbeat> = [
  ['Name', ({ name, within }) => <Named name={name} about={`within ${formatDuration(within)}`} />],
  ['Heard', ({ heard_at: time }) => <Ago time={time} />],
  ['State', ({ due_at: due }) => (due === null ? <Badge tone="bad">Missed</Badge> : <Badge tone="good">Heard</Badge>)],
  ['Incident', incidentLink],
];

const COLUMNS: Columns<AlertNotification> = [
  ['When', ({ received_at: time }) => <Ago time={time} />],
  ['Monitor', ({ api_key: { name, prefix } }) => <Named name={name} about={<code>{prefix}…</code>} />],
  [
    'Alert',
    ({ identity, format, groups }) => (
      <>
        <code className={ui.identity}>{identity || 'unknown'}</code>
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

function Notifications({ search, change }: { search: AlertsSearch; change: (changes: AlertsSearch) => void }) {
  const { outcome, key } = search;
  const { data: keys = [] } = useApiKeys();
  const monitors = keys.filter(({ scopes }) => scopes.includes('alerts:write'));
  const list = useList<AlertNotification>('/alerts', 'notifications', { outcome, key_id: key }, { every: EVERY });
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
      <Loaded query={list}>
        {({ rows }) => {
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

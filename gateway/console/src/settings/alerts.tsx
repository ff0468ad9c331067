import { type Heartbeat, type SendAlertReply, TocsinError } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { type AlertsSearch, OUTCOMES } from './alerts-search.ts';
import { configurationFor, isMonitor, type Monitor, MONITORS, nameOfMonitor } from './monitors/monitors.ts';
import { formatDuration, formatName } from '../ui/format.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, Copy, FormDialog } from '../ui/dialogs.tsx';
import { type Options, Select, TextArea } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import { type Columns, Named, Table } from '../ui/table.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { useNewKey } from './new-key.tsx';
import { EVERY, incidentLink, Notifications } from './notifications.tsx';

const route = getRouteApi('/alerts');

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
        <Notifications filter={search} change={change} />
      </div>
    </Page>
  );
}

function SetUp({ monitor, onMonitor }: { monitor: Monitor; onMonitor: (monitor: Monitor) => void }) {
  const { make, token, dialogs } = useNewKey();
  const { canRespond } = useAccess();
  const configuration = configurationFor(monitor, window.location).replaceAll('tcs_…', token ?? 'tcs_…');
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
          {canRespond && (
            <Button small kind="primary" icon="key" onClick={() => make('monitor', nameOfMonitor(monitor))}>
              Make its key
            </Button>
          )}
        </>
      }
    >
      <div className={ui.field}>
        {token === undefined ? (
          <p>
            Make a key for this monitor alone, which may send alerts and nothing else: its token stands in the place of{' '}
            <code>tcs_…</code> then. You need a responder seat. <Link to="/keys">Keys and sessions</Link> has all keys.
          </p>
        ) : (
          <p role="status">The configuration has the token of the new key until you leave this page.</p>
        )}
        <pre className={ui.code}>{configuration}</pre>
        <Copy key={configuration} value={configuration} />
      </div>
      {isTrying && <TryBody onClose={() => setTrying(false)} />}
      {dialogs}
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

const HEARTBEAT_COLUMNS: Columns<Heartbeat> = [
  ['Name', ({ name, within }) => <Named name={name} about={`within ${formatDuration(within)}`} />],
  ['Heard', ({ heard_at: time }) => <Ago time={time} />],
  ['State', ({ due_at: due }) => (due === null ? <Badge tone="bad">Missed</Badge> : <Badge tone="good">Heard</Badge>)],
  ['Incident', incidentLink],
];

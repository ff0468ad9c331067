import type { Tracker, TrackerTest } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { SecretDialog } from '../ui/dialogs.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Named, Table } from '../ui/table.tsx';
import { Ago, Fault } from '../ui/texts.tsx';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { whyNot } from '../follow-ups/why-not.ts';
import { ConnectionActions, ConnectionState, EVERY } from './connection.tsx';
import { chosenOf, describeFilters, useFilters } from './destination-filters.tsx';
import { FILTERS, nameOfKind, TrackerDialog, TRACKERS } from './tracker-dialog.tsx';

export function TrackersPage() {
  const { canManage, user } = useAccess();
  const [edited, setEdited] = useState<Tracker | 'new'>();
  const [created, setCreated] = useState<{ tracker: Tracker; secret: string }>();
  const list = useGet<{ trackers: Tracker[] }>(TRACKERS, { enabled: canManage, every: EVERY });
  if (user !== undefined && !canManage) return <NoPermission title="Trackers" what="manage trackers" />;
  return (
    <Page
      title="Trackers"
      guide="trackers"
      lead="Make tickets of follow-ups, and keep both in the same state."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
          New tracker
        </Button>
      }
    >
      <Card>
        <Loaded query={list}>
          {({ trackers }) =>
            trackers.length === 0 ? (
              <Empty title="No tracker so far" icon="tasks">
                A tracker is where the tickets of follow-ups are: GitHub, Jira Cloud, GitLab or Linear.
              </Empty>
            ) : (
              <Table
                columns={[
                  ['Tracker', (tracker) => <Named name={tracker.name} about={aboutOf(tracker)} />],
                  ['Makes', (tracker) => <Makes {...tracker} />],
                  [
                    'State',
                    (tracker) => <ConnectionState status={tracker.status}>{reasonOf(tracker)}</ConnectionState>,
                  ],
                  ['Last success', ({ last_success_at: time }) => <Ago time={time} />],
                ]}
                rows={trackers}
                keyOf={({ id }) => id}
                actions={(tracker) => (
                  <ConnectionActions
                    connection={tracker}
                    path={TRACKERS}
                    test={<Test id={tracker.id} />}
                    archived="Its tickets stay as they are, and Tocsin forgets its address and token."
                    onEdit={() => setEdited(tracker)}
                  />
                )}
              />
            )
          }
        </Loaded>
      </Card>
      {edited !== undefined && (
        <TrackerDialog
          tracker={edited === 'new' ? undefined : edited}
          onCreated={setCreated}
          onClose={() => setEdited(undefined)}
        />
      )}
      {created !== undefined && (
        <SecretDialog
          title="The secret of the webhook"
          label="Secret"
          value={created.secret}
          onClose={() => setCreated(undefined)}
        >
          Add a webhook for issues in {nameOfKind(created.tracker.kind)}, to{' '}
          <code>{window.location.origin + created.tracker.webhook_path}</code>, with this secret. It is not shown again.
          Without a webhook, changes there arrive within 15 minutes.
        </SecretDialog>
      )}
    </Page>
  );
}

const aboutOf = ({ kind, url, project }: Tracker) => [nameOfKind(kind), url, project].join(' · ');

function Makes({ auto_filters: filters, include_restricted: isRestricted }: Tracker) {
  const all = useFilters();
  if (filters === null) return <p>Tickets by hand</p>;
  const lines = describeFilters(
    all.filter(({ name }) => FILTERS.has(name)),
    chosenOf(filters),
  );
  return (
    <>
      <p>A ticket of each new follow-up</p>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {isRestricted && <p className={ui.muted}>Gets restricted incidents, too</p>}
    </>
  );
}

function reasonOf({ status, last_failure: failure, retry_at: retry }: Tracker): ReactNode {
  if (status === 'paused') return 'Is not asked until you resume it';
  if (status !== 'failing' || failure === null) return undefined;
  return (
    <>
      {whyNot(failure)} Tocsin asks again <Ago time={retry} />
    </>
  );
}

/** Asks whether tickets can be made. */
function Test({ id }: { id: number }) {
  const test = useWrite<TrackerTest>();
  const outcome = test.data?.test;
  const send = () =>
    test.mutate(
      { path: `${TRACKERS}/${id}/test` },
      { onSuccess: ({ test: { is_accepted: isAccepted } }) => isAccepted && say('The tracker knows the project.') },
    );
  return (
    <>
      <Button kind="quiet" small busy={test.isPending} onClick={send}>
        Test
      </Button>
      {test.error !== null && <Fault>{test.error.message}</Fault>}
      {outcome?.is_accepted === false && <Fault>{`Tickets cannot be made. ${whyNot(outcome)}`}</Fault>}
    </>
  );
}

import type { Tracker, TrackerTest } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { SecretDialog } from '../ui/dialogs.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Ago, Fault } from '../ui/texts.tsx';
import { say } from '../ui/toast.tsx';
import { whyNot } from '../follow-ups/why-not.ts';
import { ConnectionItem, EVERY } from './connection.tsx';
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
              <ul>
                {trackers.map((tracker) => (
                  <Item key={tracker.id} tracker={tracker} onEdit={() => setEdited(tracker)} />
                ))}
              </ul>
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

/** Which follow-ups get tickets. */
function useMakes({ auto_filters: filters }: Tracker): readonly string[] {
  const all = useFilters().filter(({ name }) => FILTERS.has(name));
  if (filters === null) return ['Tickets by hand'];
  return ['A ticket of each new follow-up', ...describeFilters(all, chosenOf(filters))];
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

function Item({ tracker, onEdit }: { tracker: Tracker; onEdit: () => void }) {
  const gets = useMakes(tracker);
  const test = useWrite<TrackerTest>();
  const outcome = test.data?.test;
  const send = () =>
    test.mutate(
      { path: `${TRACKERS}/${tracker.id}/test` },
      { onSuccess: ({ test: { is_accepted: isAccepted } }) => isAccepted && say('The tracker knows the project.') },
    );
  return (
    <ConnectionItem
      connection={tracker}
      about={aboutOf(tracker)}
      reason={reasonOf(tracker)}
      gets={gets}
      path={TRACKERS}
      test={
        <Button kind="quiet" small busy={test.isPending} onClick={send}>
          Test
        </Button>
      }
      archived="Its tickets stay as they are, and Tocsin forgets its address and token."
      onEdit={onEdit}
    >
      {test.error !== null && <Fault>{test.error.message}</Fault>}
      {outcome?.is_accepted === false && <Fault>{`Tickets cannot be made. ${whyNot(outcome)}`}</Fault>}
    </ConnectionItem>
  );
}

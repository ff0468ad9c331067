import type { Destination, DestinationTest, TocsinError } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialogs.tsx';
import { plural } from '../ui/format.ts';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Named, Table } from '../ui/table.tsx';
import { Ago, Fault } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { causeOf } from './cause-of.ts';
import { ConnectionActions, ConnectionState, EVERY } from './connection.tsx';
import { DestinationDialog, DESTINATIONS } from './destination-dialog.tsx';
import { chosenOf, describeFilters, useFilters } from './destination-filters.tsx';
import { addressOf } from './destination-kinds.ts';

export function DestinationsPage() {
  const { canManage, user } = useAccess();
  const [edited, setEdited] = useState<Destination | 'new'>();
  const list = useGet<{ destinations: Destination[] }>(DESTINATIONS, { enabled: canManage, every: EVERY });
  if (user !== undefined && !canManage) return <NoPermission title="Destinations" what="manage destinations" />;
  return (
    <Page
      title="Destinations"
      guide="destinations"
      lead="Tell chats, pagers and people what happens to incidents."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
          New destination
        </Button>
      }
    >
      <Card>
        <Loaded query={list}>
          {({ destinations }) =>
            destinations.length === 0 ? (
              <Empty title="No destination so far" icon="send">
                A destination gets a message about the events that you choose: a chat, a pager, people by email, or
                another system.
              </Empty>
            ) : (
              <Table
                columns={[
                  ['Destination', (destination) => <Named name={destination.name} about={addressOf(destination)} />],
                  ['Gets', (destination) => <Gets {...destination} />],
                  ['State', (destination) => <State {...destination} />],
                  ['Last success', ({ last_success_at: time }) => <Ago time={time} />],
                ]}
                rows={destinations}
                keyOf={({ id }) => id}
                actions={(destination) => (
                  <ConnectionActions
                    connection={destination}
                    path={DESTINATIONS}
                    test={<SendTest {...destination} />}
                    archived="It gets nothing any more, and Tocsin forgets its address and keys."
                    onEdit={() => setEdited(destination)}
                  />
                )}
              />
            )
          }
        </Loaded>
      </Card>
      {edited !== undefined && (
        <DestinationDialog destination={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  );
}

function Gets({ filters, include_restricted: isRestricted }: Destination) {
  const lines = describeFilters(useFilters(), chosenOf(filters));
  return (
    <>
      {lines.length === 0 ? <p>Everything</p> : lines.map((line) => <p key={line}>{line}</p>)}
      {isRestricted && <p className={ui.muted}>Gets restricted incidents, too</p>}
    </>
  );
}

function State(destination: Destination) {
  const { status, left_out: count } = destination;
  return (
    <>
      <ConnectionState status={status}>{reasonOf(destination)}</ConnectionState>
      {count > 0 && <p className={ui.muted}>{`It refused ${plural(count, 'event')}, which it does not get again`}</p>}
    </>
  );
}

function reasonOf({
  status,
  last_success_at: success,
  last_failure: failure,
  retry_at: retry,
}: Destination): ReactNode {
  if (status === 'paused') return 'Gets nothing until you resume it';
  if (failure === null || (success !== null && success > failure.at)) return undefined;
  const cause = causeOf(failure.status, failure.reason);
  if (status !== 'failing') return `The last message did not arrive. ${cause}`;
  return (
    <>
      {cause} Tocsin tries again <Ago time={retry} />
    </>
  );
}

/** Sends a test message, and shows what the receiver says. */
function SendTest({ id, name }: Destination) {
  const test = useWrite<DestinationTest>();
  const [isOpen, setOpen] = useState(false);
  const send = () => test.mutate({ path: `${DESTINATIONS}/${id}/test` }, { onSettled: () => setOpen(true) });
  return (
    <>
      <Button kind="quiet" small busy={test.isPending} onClick={send}>
        {test.isPending ? 'Sending' : 'Send test'}
      </Button>
      {isOpen && (
        <Dialog title={`Test of ${name}`} onClose={() => setOpen(false)}>
          <div className={ui.form}>
            <Outcome test={test.data?.test} error={test.error} />
            <div className={ui.actions}>
              <Button busy={test.isPending} onClick={send}>
                Send again
              </Button>
              <Button kind="primary" onClick={() => setOpen(false)}>
                Done
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Outcome({ test, error }: { test: DestinationTest['test'] | undefined; error: TocsinError | null }) {
  if (error !== null) return <Fault>{error.message}</Fault>;
  if (test === undefined) return <p role="status">Tocsin sends a message.</p>;
  const { is_accepted: isAccepted, status, reason, answer } = test;
  return (
    <>
      {isAccepted ? (
        <p role="status">The receiver accepted the message. Look whether it is there.</p>
      ) : (
        <Fault>{`The message was not accepted. ${causeOf(status, reason)}`}</Fault>
      )}
      {answer !== '' && (
        <div className={ui.field}>
          <span className={ui.label}>What the receiver said</span>
          <code className={ui.code}>{answer}</code>
        </div>
      )}
    </>
  );
}

import type { Destination, DestinationTest } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { useAccess, useGet } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { plural } from '../ui/format.ts';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { causeOf } from './cause-of.ts';
import { ConnectionItem, EVERY } from './connection.tsx';
import { DestinationDialog, DESTINATIONS } from './destination-dialog.tsx';
import { chosenOf, describeFilters, useFilters } from './destination-filters.tsx';
import { addressOf } from './destination-kinds.ts';
import { TestButton } from './test-button.tsx';

export function DestinationsPage() {
  const { canManage, user } = useAccess();
  const [edited, setEdited] = useState<Destination | 'new'>();
  const list = useGet<{ destinations: Destination[] }>(DESTINATIONS, { enabled: canManage, every: EVERY });
  const filters = useFilters();
  const getsOf = (destination: Destination) => {
    const lines = describeFilters(filters, chosenOf(destination.filters));
    return lines.length === 0 ? ['Every event'] : lines;
  };
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
              <ul>
                {destinations.map((destination) => (
                  <ConnectionItem
                    key={destination.id}
                    connection={destination}
                    about={addressOf(destination)}
                    reason={whyOf(destination)}
                    gets={getsOf(destination)}
                    path={DESTINATIONS}
                    test={<SendTest {...destination} />}
                    archived="It gets nothing any more, and Tocsin forgets its address and keys."
                    onEdit={() => setEdited(destination)}
                  >
                    {destination.left_out > 0 && (
                      <p className={ui.hint}>
                        {`It refused ${plural(destination.left_out, 'event')}, which it does not get again`}
                      </p>
                    )}
                  </ConnectionItem>
                ))}
              </ul>
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

/** Why it is in its state. */
function whyOf({ status, last_success_at: success, last_failure: failure, retry_at: retry }: Destination): ReactNode {
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
const SendTest = ({ id, name }: Destination) => (
  <TestButton<DestinationTest>
    name={name}
    path={`${DESTINATIONS}/${id}/test`}
    kind="quiet"
    small
    labels={['Send test', 'Send again']}
    outcomeOf={({ test: { is_accepted: isAccepted, status, reason, answer } }) => ({
      ...{ isAccepted, answer },
      text: isAccepted
        ? 'The receiver accepted the message. Look whether it is there.'
        : `The message was not accepted. ${causeOf(status, reason)}`,
    })}
  />
);

import type { FollowUp, TicketTracker } from '@tocsin/sdk';
import { useEffect, useState } from 'react';
import { sayError } from '../api/failures.ts';
import { refresh, useGet, useWrite } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { choices, Select } from '../ui/fields.tsx';
import { SafeLink } from '../ui/markdown.tsx';
import { Badge } from '../ui/texts.tsx';
import { whyNot } from './why-not.ts';

/** Milliseconds after which a ticket that is being made is read again: no event tells of it. */
const EVERY = 2_000;
/** How often: its tracker may be paused. */
const MOST = 30;

/** The ticket of a follow-up: its page, its state, and what has failed. */
export function TicketFacts({ followUp, lists }: { followUp: FollowUp; lists: readonly string[] }) {
  const { ticket, status } = followUp;
  const isOpen = status === 'open';
  const differs = ticket?.failure === null && ticket.state !== (isOpen ? 'open' : 'done');
  useEffect(() => {
    if (!differs) return undefined;
    let left = MOST;
    const timer = setInterval(() => {
      left -= 1;
      if (left === 0) clearInterval(timer);
      void refresh(...lists);
    }, EVERY);
    return () => clearInterval(timer);
  }, [differs, lists]);
  if (ticket === null) return null;
  const { key, url, state, failure } = ticket;
  return (
    <span>
      {url === null ? 'Ticket' : <SafeLink href={url}>{key ?? url}</SafeLink>}{' '}
      {failure === null ? (
        <Badge tone={state === 'done' ? 'good' : undefined}>{differs ? 'in progress' : state}</Badge>
      ) : (
        <>
          <Badge tone="bad">failed</Badge> {whyNot(failure)}
        </>
      )}
    </span>
  );
}

/** What can be done about the ticket of a follow-up. */
export function TicketActions({ followUp, lists }: { followUp: FollowUp; lists: readonly string[] }) {
  const { id, ticket } = followUp;
  const { data } = useGet<{ trackers: TicketTracker[] }>('/trackers');
  const { trackers = [] } = data ?? {};
  const act = useWrite<unknown>(...lists);
  const [isChosen, setChosen] = useState(false);
  const path = `/follow-ups/${id}/ticket`;
  const make = (tracker: number) => act.mutate({ path, body: { tracker_id: tracker } }, { onError: sayError });
  const button = (label: string, onClick: () => void) => (
    <Button kind="quiet" small busy={act.isPending} onClick={onClick}>
      {label}
    </Button>
  );
  const [first] = trackers;
  if (ticket !== null) {
    return (
      <>
        {ticket.failure !== null && button('Try again', () => make(ticket.tracker_id))}
        {button('Unlink ticket', () => act.mutate({ method: 'DELETE', path }, { onError: sayError }))}
      </>
    );
  }
  if (first === undefined) return null;
  return (
    <>
      {button('Create ticket', () => (trackers.length === 1 ? make(first.id) : setChosen(true)))}
      {isChosen && (
        <EditDialog
          title="Create a ticket"
          label="Create"
          initial={{ tracker: String(first.id) }}
          request={({ tracker }) => ({ path, body: { tracker_id: Number(tracker) } })}
          refreshes={lists}
          onClose={() => setChosen(false)}
        >
          {(bind) => <Select label="Tracker" options={choices(trackers, 'id', 'name')} {...bind('tracker')} />}
        </EditDialog>
      )}
    </>
  );
}

import type { Destination, Tracker } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useAccess, useWrite } from '../api/hooks.ts';
import { Button, classes } from '../ui/button.tsx';
import { Confirm } from '../ui/dialogs.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

/** A destination or a tracker: it works, fails, or is paused. */
type Connection = Pick<Destination | Tracker, 'id' | 'name' | 'status' | 'include_restricted' | 'last_success_at'>;

/** Milliseconds after which the state of connections is read again. */
export const EVERY = 10_000;

const TONES = new Map<string, 'good' | 'warn' | 'bad'>([
  ['active', 'good'],
  ['failing', 'bad'],
  ['paused', 'warn'],
]);

interface ConnectionProps {
  connection: Connection;
  path: string;
  about: string;
  /** Why it is in its state. */
  reason: ReactNode;
  gets: readonly string[];
  /** The button that tests it. */
  test: ReactNode;
  /** What an archive does. */
  archived: string;
  onEdit: () => void;
  /** What else there is to say. */
  children?: ReactNode;
}

/** An item of a list, with what can be done. Only who sees restricted incidents lets others have them. */
export function ConnectionItem({ connection, path, about, reason, gets, ...props }: ConnectionProps) {
  const { id, name, status, last_success_at: success, include_restricted: isRestricted } = connection;
  const { seesAllRestricted } = useAccess();
  const act = useWrite<unknown>(path);
  const [isArchiving, setArchiving] = useState(false);
  const canChange = seesAllRestricted || !isRestricted;
  const send = (verb: string, onSuccess?: () => void) =>
    act.mutate(
      { path: `${path}/${id}/${verb}` },
      // The dialogue that asks before says why.
      { onSuccess, onError: (error) => verb !== 'archive' && sayError(error) },
    );
  const button = (label: string, onClick: () => void, kind: 'normal' | 'quiet' = 'quiet') => (
    <Button kind={kind} small busy={act.isPending} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <li className={classes(ui.item, ui.spread)}>
      <p>
        <span className={ui.strong}>{name}</span> <Badge tone={TONES.get(status)}>{status}</Badge>
      </p>
      <p className={ui.facts}>
        <span>{about}</span>
        <span>
          {success === null ? (
            'no success so far'
          ) : (
            <>
              last success <Ago time={success} />
            </>
          )}
        </span>
      </p>
      {reason && (
        <p className={classes(ui.row, status === 'failing' ? ui.fault : ui.hint)}>
          <span>{reason}</span>
          {canChange && status === 'failing' && button('Try again now', () => send('resume'), 'normal')}
        </p>
      )}
      <p className={ui.facts}>
        {gets.map((line) => (
          <span key={line}>{line}</span>
        ))}
        {isRestricted && <span>Gets restricted incidents, too</span>}
      </p>
      {props.children}
      <div className={ui.itemActions}>
        {canChange && button('Edit', props.onEdit)}
        {props.test}
        {status === 'paused'
          ? canChange && button('Resume', () => send('resume'))
          : button('Pause', () => send('pause'))}
        {button('Archive', () => {
          act.reset();
          setArchiving(true);
        })}
      </div>
      {isArchiving && (
        <Confirm
          title={`Archive ${name}?`}
          label="Archive"
          busy={act.isPending}
          error={act.error}
          onClose={() => setArchiving(false)}
          onSubmit={() => send('archive', () => setArchiving(false))}
        >
          {props.archived} This cannot be undone.
        </Confirm>
      )}
    </li>
  );
}

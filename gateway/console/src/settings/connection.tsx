import type { Destination, Tracker } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useAccess, useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialogs.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

/** A destination or a tracker: it works, fails, or is paused. */
type Connection = Pick<Destination | Tracker, 'id' | 'name' | 'status' | 'include_restricted'>;

/** Milliseconds after which the state of connections is read again. */
export const EVERY = 10_000;

const TONES = new Map<string, 'good' | 'warn' | 'bad'>([
  ['active', 'good'],
  ['failing', 'bad'],
  ['paused', 'warn'],
]);

/** The state in one word, and why it is so. */
export const ConnectionState = ({ status, children }: Pick<Connection, 'status'> & { children: ReactNode }) => (
  <>
    <Badge tone={TONES.get(status)}>{status}</Badge>
    <p className={ui.muted}>{children}</p>
  </>
);

/**
 * What can be done with a connection. Only who sees restricted incidents lets others have them.
 * @param props `test` is its button that tests, `archived` what an archive does
 */
export function ConnectionActions({
  connection: { id, name, status, include_restricted: isRestricted },
  path,
  test,
  archived,
  onEdit,
}: {
  connection: Connection;
  path: string;
  test: ReactNode;
  archived: string;
  onEdit: () => void;
}) {
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
  const button = (label: string, onClick: () => void) => (
    <Button kind="quiet" small busy={act.isPending} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <>
      {canChange && button('Edit', onEdit)}
      {test}
      {canChange && status === 'failing' && button('Try again now', () => send('resume'))}
      {status === 'paused' ? canChange && button('Resume', () => send('resume')) : button('Pause', () => send('pause'))}
      {button('Archive', () => {
        act.reset();
        setArchiving(true);
      })}
      {isArchiving && (
        <Confirm
          title={`Archive ${name}?`}
          label="Archive"
          busy={act.isPending}
          error={act.error}
          onClose={() => setArchiving(false)}
          onSubmit={() => send('archive', () => setArchiving(false))}
        >
          {archived} This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

import { TocsinError } from '@tocsin/sdk';
import { useState } from 'react';
import { write } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';
import { resourceAt } from './conflict.tsx';
import { Confirm } from '../ui/dialogs.tsx';

/** Asks before a resource goes, and again if somebody has changed it meanwhile: a delete takes no revision. */
export function DeleteDialog<Row extends { revision: number }>({
  what,
  path,
  row,
  text,
  onRow,
  onDone,
}: {
  what: string;
  path: string;
  /** As its author has seen it. */
  row: Row;
  text: (row: Row) => string;
  onRow: (row: Row | undefined) => void;
  onDone: () => Promise<void>;
}) {
  const [state, setState] = useState<'rest' | 'busy' | TocsinError>('rest');
  const submit = async () => {
    setState('busy');
    try {
      const { values, revision } = await resourceAt(path).read();
      if (revision !== row.revision) {
        onRow(values as unknown as Row);
        throw new TocsinError(
          'precondition_failed',
          `Somebody changed this ${what} meanwhile. This is what it says now.`,
          { status: 412 },
        );
      }
      await write({ method: 'DELETE', path });
      onRow(undefined);
      await onDone();
    } catch (error) {
      setState(failureOf(error));
    }
  };
  return (
    <Confirm
      title={`Delete this ${what}?`}
      label="Delete"
      busy={state === 'busy'}
      error={state instanceof TocsinError ? state : null}
      onClose={() => onRow(undefined)}
      onSubmit={() => void submit()}
    >
      {text(row).slice(0, 200)}
    </Confirm>
  );
}

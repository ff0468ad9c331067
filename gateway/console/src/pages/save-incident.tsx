import type { Incident } from '@tocsin/sdk';
import { useState } from 'react';
import { ApiError, read, write } from '../api/client.ts';
import { queryClient, refresh, useNameOf } from '../api/hooks.ts';
import { formatName, formatValue } from '../ui/format.ts';
import { Button, css as ui, Dialog } from '../ui/ui.tsx';

export type Changes = Partial<Incident>;

interface Conflict {
  current: Incident;
  changes: Changes;
  settle: (isSaved: boolean) => void;
}

const equal = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const put = (incident: Incident) => queryClient.setQueryData([`/incidents/${incident.id}`], { incident });

/**
 * Saves changes of an incident on the revision that is shown. If somebody else has changed other properties meanwhile,
 * it saves them on top; if they have changed the same ones, it asks which version is to stay.
 */
export function useSaveIncident(shown: Incident) {
  const [conflict, setConflict] = useState<Conflict>();
  const path = `/incidents/${shown.id}`;

  const patch = async (changes: Changes, base: Incident): Promise<void> => {
    try {
      const { incident } = await write<{ incident: Incident }>({
        method: 'PATCH',
        path,
        body: changes,
        revision: base.revision,
      });
      put(incident);
      await refresh('/incidents');
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      const { incident: current } = await read<{ incident: Incident }>(path);
      put(current);
      const names = Object.keys(changes) as (keyof Incident)[];
      if (names.every((name) => equal(current[name], base[name]))) return patch(changes, current);
      const isSaved = await new Promise<boolean>((settle) => setConflict({ current, changes, settle }));
      setConflict(undefined);
      if (isSaved) await patch(changes, current);
    }
  };
  return {
    /** @throws ApiError */
    save: async (changes: Changes) => patch(changes, shown),
    conflict: conflict && <ConflictDialog {...conflict} />,
  };
}

/** Both versions of what two people changed at the same time. */
function ConflictDialog({ current, changes, settle }: Conflict) {
  const nameOf = useNameOf();
  const show = (name: string, value: unknown) =>
    name === 'incident_manager' && value !== '' ? nameOf(String(value)) : formatValue(value);
  const names = Object.keys(changes).filter(
    (name) => !equal(current[name as keyof Incident], changes[name as keyof Incident]),
  );
  return (
    <Dialog title="Somebody else changed this, too" onClose={() => settle(false)}>
      <div className={ui.form}>
        <table className={ui.table}>
          <thead>
            <tr>
              <th scope="col">Property</th>
              <th scope="col">Now</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">{formatName(name)}</th>
                <td>{show(name, current[name as keyof Incident])}</td>
                <td className={ui.strong}>{show(name, changes[name as keyof Incident])}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div className={ui.actions}>
          <Button onClick={() => settle(false)}>Keep theirs</Button>
          <Button kind="primary" onClick={() => settle(true)}>
            Save mine
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

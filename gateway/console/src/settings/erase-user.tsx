import { type PersonalData, Tocsin, type User, type UserErasure } from '@tocsin/sdk';
import { useState } from 'react';
import { CONNECTION } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { useGet } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialogs.tsx';
import { Input } from '../ui/fields.tsx';
import { plural } from '../ui/format.ts';
import ui from '../ui/ui.module.css';

/** Asks before a person is forgotten, and shows how far that has come. */
export function EraseUser({ user, onClose }: { user: User; onClose: () => void }) {
  const path = `/settings/users/${user.id}`;
  const { data } = useGet<{ erasure: UserErasure }>(`${path}/erasure`, { every: 2_000 });
  if (data === undefined) return null;
  if (data.erasure.requested_at !== null) return <State erasure={data.erasure} name={user.name} onClose={onClose} />;
  return (
    <EditDialog<{ confirmation: string }, unknown>
      title={`Erase ${user.name} for good?`}
      label="Erase"
      initial={{ confirmation: '' }}
      request={(body) => ({ path: `${path}/erase`, body })}
      refreshes={['/settings/users', `${path}/erasure`]}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <p>
            Name, address and accounts go from everywhere; the person is “Former user {user.id}” from then on, and never
            comes back. What happened stays, and texts that people wrote stay: those with the name are listed here
            afterwards.
          </p>
          <Export user={user} />
          <Input label={`Type ${user.email} to confirm`} {...bind('confirmation')} />
        </>
      )}
    </EditDialog>
  );
}

function State({ erasure, name, onClose }: { erasure: UserErasure; name: string; onClose: () => void }) {
  const { completed_at: completedAt, places, has_more_places: hasMore } = erasure;
  return (
    <Dialog title={name} onClose={onClose}>
      <p role="status">
        {completedAt === null
          ? `Is being erased: ${erasure.remaining.join(', ')} to go.`
          : 'Is erased from everywhere.'}
      </p>
      {places.length > 0 && (
        <>
          <p>
            {hasMore ? `More than ${places.length} texts still name` : `${plural(places.length, 'text')} still naming`}{' '}
            the person:
          </p>
          <ul className={ui.muted}>
            {places.map(({ kind, id, incident_id: incidentId, property }) => (
              <li key={`${kind} ${id} ${property}`}>
                {kind} {id}, {property}
                {incidentId !== null && (
                  <>
                    {' '}
                    of <a href={`/app/incidents/${incidentId}`}>an incident</a>
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

/** Saves all that is kept about a person as a file. */
function Export({ user }: { user: User }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const rows: PersonalData[] = [];
      for await (const row of new Tocsin(CONNECTION).users.exportData(user.id)) rows.push(row);
      const url = URL.createObjectURL(new Blob([JSON.stringify({ rows }, null, 2)], { type: 'application/json' }));
      Object.assign(document.createElement('a'), { href: url, download: `user-${user.id}.json` }).click();
      URL.revokeObjectURL(url);
    } catch (error) {
      sayError(error);
    }
    setBusy(false);
  };
  return (
    <div>
      <Button small busy={busy} onClick={() => void save()}>
        Export what is kept
      </Button>
    </div>
  );
}

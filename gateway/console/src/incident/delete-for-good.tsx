import type { Incident } from '@tocsin/sdk';
import { useState } from 'react';
import { useAccess } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { Input } from '../ui/fields.tsx';

/** What only owners may do with an incident, and nobody can undo. */
export function DeleteForGood({ incident }: { incident: Incident }) {
  const { canDelete } = useAccess();
  const [isAsked, setAsked] = useState(false);
  if (!canDelete) return null;
  return (
    <>
      <Button kind="quiet" onClick={() => setAsked(true)}>
        Delete for good
      </Button>
      {isAsked && (
        <EditDialog<{ reason: string; confirmation: string }, undefined>
          title={`Delete ${incident.human_id} for good?`}
          label="Delete for good"
          initial={{ reason: '', confirmation: '' }}
          request={(body) => ({ path: `/incidents/${incident.id}/delete`, body })}
          refreshes={['/incidents', '/follow-ups']}
          onClose={() => setAsked(false)}
        >
          {(bind) => (
            <>
              <p>
                Its timeline, changelog and follow-ups go with it, and nobody can bring them back. Webhooks that were
                delivered and its channel stay.
              </p>
              <Input label="Reason, for the audit log" {...bind('reason')} />
              <Input label={`Type ${incident.human_id} to confirm`} {...bind('confirmation')} />
            </>
          )}
        </EditDialog>
      )}
    </>
  );
}

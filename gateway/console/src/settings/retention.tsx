import type { Retention } from '@tocsin/sdk';
import { Fragment, useState } from 'react';
import { useAccess, useGet } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { Input } from '../ui/fields.tsx';
import { formatDay, plural } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';

const PATH = '/settings/retention';
const KINDS = [
  ['archived_incidents', 'Archived incidents'],
  ['audit_log', 'Audit log'],
  ['access_log', 'Who has read restricted incidents'],
  ['alert_records', 'Records of alerts'],
] as const;
type Kind = (typeof KINDS)[number][0];
type Draft = Record<Kind, string>;

/** How long the workspace keeps what. Only owners change it. */
export function RetentionCard() {
  const { canDelete } = useAccess();
  const query = useGet<{ retention: Retention }>(PATH);
  const [isEdited, setEdited] = useState(false);
  return (
    <Card
      id="retention"
      title="Retention"
      padded
      actions={
        canDelete && (
          <Button small onClick={() => setEdited(true)}>
            Change retention
          </Button>
        )
      }
    >
      <Loaded query={query} rows={4}>
        {({ retention }) => (
          <>
            <dl className={ui.terms}>
              {KINDS.map(([kind, name]) => (
                <Fragment key={kind}>
                  <dt>{name}</dt>
                  <dd>{describe(retention, kind)}</dd>
                </Fragment>
              ))}
            </dl>
            {isEdited && <RetentionDialog retention={retention} onClose={() => setEdited(false)} />}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function describe({ days, starts_at: starts }: Retention, kind: Kind): string {
  const [period, start] = [days[kind], starts[kind]];
  if (period === null || start === null) return 'For ever';
  const kept = plural(period, 'day');
  return Date.parse(start) > Date.now() ? `${kept}, from ${formatDay(start)} on` : kept;
}

const RetentionDialog = ({ retention, onClose }: { retention: Retention; onClose: () => void }) => (
  <EditDialog<Draft, undefined>
    title="Change retention"
    initial={Object.fromEntries(KINDS.map(([kind]) => [kind, String(retention.days[kind] ?? '')])) as Draft}
    request={(draft) => ({
      ...{ method: 'PUT', path: PATH, revision: retention.revision },
      body: {
        days: Object.fromEntries(KINDS.map(([kind]) => [kind, draft[kind].trim() === '' ? null : Number(draft[kind])])),
      },
    })}
    locate={(field) => field.replace('days.', '')}
    refreshes={[PATH]}
    onClose={onClose}
  >
    {(bind) => (
      <>
        <p>
          What is older is deleted for good. A period that is new or shorter applies in 30 days; until then archived
          incidents can be restored.
        </p>
        {KINDS.map(([kind, name]) => (
          <Input key={kind} label={name} hint="Days; empty: for ever" inputMode="numeric" {...bind(kind)} />
        ))}
      </>
    )}
  </EditDialog>
);

import type { Incident, Provisioning } from '@tocsin/sdk';
import { useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useGet, useMe, useWrite } from '../api/hooks.ts';
import { FormDialog } from '../ui/dialogs.tsx';
import { formatName } from '../ui/format.ts';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { ShortTitle } from './short-title.tsx';

const TONES = new Map<string, 'good' | 'bad' | 'warn'>([
  ['succeeded', 'good'],
  ['failed', 'bad'],
  ['pending', 'warn'],
  ['running', 'warn'],
]);
const UNDER_WAY = ['pending', 'running'];
/** Milliseconds. */
const INTERVAL = 3_000;

/** How far the chat channel is; a button that requests one, if none was. */
export function Chat({ incident, canEdit }: { incident: Incident; canEdit: boolean }) {
  const path = `/incidents/${incident.id}/provisioning`;
  const first = useGet<{ provisioning: Provisioning }>(path);
  const { status, steps = [], channel_updates: updates } = first.data?.provisioning ?? {};
  const shown = [...steps, ...(updates ? [{ key: 'channel_updates', ...updates }] : [])];
  useGet(path, { enabled: shown.some((step) => UNDER_WAY.includes(step.status)), every: INTERVAL });
  const retry = useWrite(path);
  if (status === undefined) return null;
  if (status === 'not_requested' && !updates) return canEdit ? <RequestChannel incident={incident} /> : null;
  const hasFailed = shown.some((step) => step.status === 'failed');
  return (
    <Card
      title="Chat"
      padded
      actions={
        hasFailed &&
        canEdit && (
          <Button
            small
            busy={retry.isPending}
            onClick={() => retry.mutate({ path: `${path}/retry` }, { onError: sayError })}
          >
            Retry
          </Button>
        )
      }
    >
      <ul className={ui.stack}>
        {shown
          .filter((step) => step.status !== 'not_requested')
          .map((step) => (
            <li key={step.key} className={ui.row}>
              <Badge tone={TONES.get(step.status)}>{formatName(step.status)}</Badge>
              {formatName(step.key)}
              {step.error_code && <span className={ui.muted}>{formatName(step.error_code)}</span>}
            </li>
          ))}
      </ul>
      {incident.restricted && updates?.error_code === 'invalid_resource_state' && (
        <p className={ui.hint}>
          The channel is public, and the incident is restricted: Tocsin posts nothing into it. Make it private, and
          retry.
        </p>
      )}
    </Card>
  );
}

function RequestChannel({ incident }: { incident: Incident }) {
  const workspace = useMe().data?.workspace;
  const [shortTitle, setShortTitle] = useState<string>();
  const path = `/incidents/${incident.id}/provisioning`;
  const request = useWrite(path);
  if (workspace?.chat !== true || incident.slack_channel_id !== '') return null;
  const close = () => {
    setShortTitle(undefined);
    request.reset();
  };
  const body = shortTitle === '' ? {} : { short_title: shortTitle };
  return (
    <Card
      title="Chat"
      padded
      actions={
        <Button small onClick={() => setShortTitle('')}>
          Create a channel
        </Button>
      }
    >
      <span className={ui.muted}>No channel</span>
      {shortTitle !== undefined && (
        <FormDialog
          title={`Create a channel for ${incident.human_id}`}
          label="Create"
          busy={request.isPending}
          error={request.error}
          onClose={close}
          onSubmit={() => request.mutate({ path, body }, { onSuccess: close })}
        >
          <ShortTitle value={shortTitle} onValue={setShortTitle} />
        </FormDialog>
      )}
    </Card>
  );
}

import type { Incident, Provisioning } from '@tocsin/sdk';
import { useGet, useWrite } from '../api/hooks.ts';
import { formatName } from '../ui/format.ts';
import { sayError } from '../ui/toast.tsx';
import { Badge, Button, Card, css as ui } from '../ui/ui.tsx';

const TONES = new Map<string, 'good' | 'bad' | 'warn'>([
  ['succeeded', 'good'],
  ['failed', 'bad'],
  ['pending', 'warn'],
  ['running', 'warn'],
]);
const UNDER_WAY = ['pending', 'running'];
/** Milliseconds. */
const INTERVAL = 3_000;

/** How far the chat channel is, if one was requested. */
export function Chat({ incident, canEdit }: { incident: Incident; canEdit: boolean }) {
  const path = `/incidents/${incident.id}/provisioning`;
  const first = useGet<{ provisioning: Provisioning }>(path);
  const isUnderWay = UNDER_WAY.includes(first.data?.provisioning.status ?? '');
  useGet(path, { enabled: isUnderWay, every: INTERVAL });
  const retry = useWrite(path);
  const { status, steps = [] } = first.data?.provisioning ?? {};
  if (status === undefined || status === 'not_requested') return null;
  const hasFailed = status === 'failed' || status === 'partial';
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
        {steps
          .filter((step) => step.status !== 'not_requested')
          .map((step) => (
            <li key={step.key} className={ui.row}>
              <Badge tone={TONES.get(step.status)}>{formatName(step.status)}</Badge>
              {formatName(step.key)}
              {step.error_code && <span className={ui.muted}>{formatName(step.error_code)}</span>}
            </li>
          ))}
      </ul>
    </Card>
  );
}

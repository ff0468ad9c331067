import type { Webhook } from '@tocsin/sdk';
import { useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { EditDialog } from '../ui/edit-dialog.tsx';
import { Named, Table } from '../ui/table.tsx';
import { say, sayError } from '../ui/toast.tsx';
import {
  Ago,
  Badge,
  Button,
  Card,
  Confirm,
  css as ui,
  Empty,
  Input,
  Loaded,
  NoPermission,
  Page,
  SecretDialog,
} from '../ui/ui.tsx';

const PATH = '/settings/webhooks';
const TONES = new Map<string, 'good' | 'warn'>([
  ['active', 'good'],
  ['paused', 'warn'],
]);

/** Why a subscription is as it is, and what to do. */
function reasonOf({ status, last_success_at: success, last_failure_at: failure }: Webhook): string {
  if (status === 'revoked') return 'Ended for good';
  const failedLast = failure !== null && (success === null || failure > success);
  if (status === 'active')
    return failedLast ? 'The last delivery failed; it is tried again' : 'Sends declared incidents';
  if (failedLast) return 'Paused after failures: mend the receiver, then verify';
  return success === null ? 'Verify that the receiver answers' : 'Paused by hand';
}

export function WebhooksPage() {
  const { canManage, user } = useAccess();
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const list = useGet<{ webhooks: Webhook[] }>(PATH, { enabled: canManage });
  if (user !== undefined && !canManage) {
    return <NoPermission title="Webhooks" what="manage webhooks" />;
  }
  return (
    <Page
      title="Webhooks"
      lead="Tell another system about every declared incident, with a signed request."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New webhook
        </Button>
      }
    >
      <Card>
        <Loaded query={list}>
          {({ webhooks }) =>
            webhooks.length === 0 ? (
              <Empty title="No webhook so far" icon="webhooks">
                A receiver is an HTTPS address that answers a signed request with 2xx.
              </Empty>
            ) : (
              <Table
                columns={[
                  ['Receiver', ({ name, url }) => <Named name={name ?? url} about={name === null ? undefined : url} />],
                  [
                    'State',
                    (webhook) => (
                      <>
                        <Badge tone={TONES.get(webhook.status)}>{webhook.status}</Badge>
                        <p className={ui.muted}>{reasonOf(webhook)}</p>
                      </>
                    ),
                  ],
                  ['Last success', ({ last_success_at: time }) => <Ago time={time} />],
                  ['Last failure', ({ last_failure_at: time }) => <Ago time={time} none="none" />],
                ]}
                rows={webhooks}
                keyOf={({ id }) => id}
                actions={(webhook) => <Actions webhook={webhook} onSecret={setSecret} />}
              />
            )
          }
        </Loaded>
      </Card>
      {isCreating && (
        <EditDialog<{ url: string; name: string }, { secret: string }>
          title="New webhook"
          label="Create"
          initial={{ url: '', name: '' }}
          request={({ url, name }) => ({ path: PATH, body: { url, ...(name !== '' && { name }) } })}
          onDone={(reply) => setSecret(reply.secret)}
          onClose={() => setCreating(false)}
        >
          {(bind) => (
            <>
              <Input label="Address" type="url" placeholder="https://hooks.example.com/tocsin" {...bind('url')} />
              <Input label="Name" hint="To tell it from others; it cannot be changed." {...bind('name')} />
            </>
          )}
        </EditDialog>
      )}
      {secret !== undefined && (
        <SecretDialog title="The signing secret" label="Secret" value={secret} onClose={() => setSecret(undefined)}>
          Give it to the receiver, then verify. It is not shown again.
        </SecretDialog>
      )}
    </Page>
  );
}

function Actions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const act = useWrite<{ webhook: Webhook; secret?: string }>(PATH);
  const [isRevoking, setRevoking] = useState(false);
  if (webhook.status === 'revoked') return null;
  const send = (verb: string, done?: string) =>
    act.mutate(
      { path: `${PATH}/${webhook.id}/${verb}` },
      {
        onSuccess: ({ secret }) => {
          setRevoking(false);
          if (secret !== undefined) onSecret(secret);
          if (done !== undefined) say(done);
        },
        onError: sayError,
      },
    );
  const button = (label: string, verb: string, done?: string) => (
    <Button kind="quiet" small busy={act.isPending} onClick={() => send(verb, done)}>
      {label}
    </Button>
  );
  return (
    <>
      {button('Verify', 'verify', 'The receiver answered. The webhook is active.')}
      {webhook.status === 'active'
        ? button('Pause', 'pause')
        : webhook.last_success_at !== null && button('Resume', 'resume')}
      {button('New secret', 'rotate-secret')}
      <Button kind="quiet" small onClick={() => setRevoking(true)}>
        Revoke
      </Button>
      {isRevoking && (
        <Confirm
          title="Revoke this webhook?"
          label="Revoke"
          busy={act.isPending}
          error={null}
          onClose={() => setRevoking(false)}
          onSubmit={() => send('revoke')}
        >
          {webhook.name ?? webhook.url} gets nothing any more. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

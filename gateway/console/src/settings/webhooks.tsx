import type { TocsinError, Webhook } from '@tocsin/sdk';
import { useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Named, Table } from '../ui/table.tsx';
import { say } from '../ui/toast.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, SecretDialog } from '../ui/dialogs.tsx';
import { Check, Input } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { causeOf } from './cause-of.ts';

const PATH = '/settings/webhooks';
const VERIFIED = 'The receiver answered. The webhook is active.';
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
      guide="webhooks"
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
                        {webhook.include_restricted && <p className={ui.muted}>Gets restricted incidents, too</p>}
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
      {isCreating && <NewWebhook onSecret={setSecret} onClose={() => setCreating(false)} />}
      {secret !== undefined && (
        <SecretDialog title="The signing secret" label="Secret" value={secret} onClose={() => setSecret(undefined)}>
          Give it to the receiver, then verify. It is not shown again.
        </SecretDialog>
      )}
    </Page>
  );
}

function NewWebhook({ onSecret, onClose }: { onSecret: (secret: string) => void; onClose: () => void }) {
  const { seesAllRestricted } = useAccess();
  return (
    <EditDialog<{ url: string; name: string; isRestricted: boolean }, { secret: string }>
      title="New webhook"
      label="Create"
      initial={{ url: '', name: '', isRestricted: false }}
      request={({ url, name, isRestricted }) => ({
        path: PATH,
        body: { url, ...(name !== '' && { name }), ...(isRestricted && { include_restricted: true }) },
      })}
      onDone={({ secret }) => onSecret(secret)}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <Input label="Address" type="url" placeholder="https://hooks.example.com/tocsin" {...bind('url')} />
          <Input label="Name" hint="To tell it from others; it cannot be changed." {...bind('name')} />
          {seesAllRestricted && (
            <Check
              label="Also send restricted incidents: whoever reads what the receiver gets sees them."
              {...bind('isRestricted')}
            />
          )}
        </>
      )}
    </EditDialog>
  );
}

function Actions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const act = useWrite<{ webhook: Webhook; secret?: string }>(PATH);
  const [isRevoking, setRevoking] = useState(false);
  const [failure, setFailure] = useState<TocsinError>();
  if (webhook.status === 'revoked') return null;
  const send = (verb: string, done?: string) =>
    act.mutate(
      { path: `${PATH}/${webhook.id}/${verb}` },
      {
        onSuccess: ({ secret }) => {
          setRevoking(false);
          setFailure(undefined);
          if (secret !== undefined) onSecret(secret);
          if (done !== undefined) say(done);
        },
        onError: (error) => {
          if (verb === 'verify') setFailure(error);
          // The dialogue that asks before says why.
          else if (verb !== 'revoke') sayError(error);
        },
      },
    );
  const button = (label: string, verb: string, done?: string) => (
    <Button kind="quiet" small busy={act.isPending} onClick={() => send(verb, done)}>
      {label}
    </Button>
  );
  return (
    <>
      {button('Verify', 'verify', VERIFIED)}
      {webhook.status === 'active'
        ? button('Pause', 'pause')
        : webhook.last_success_at !== null && button('Resume', 'resume')}
      {button('New secret', 'rotate-secret')}
      <Button
        kind="quiet"
        small
        onClick={() => {
          act.reset();
          setRevoking(true);
        }}
      >
        Revoke
      </Button>
      {failure && (
        <Confirm
          title="Not verified"
          label="Try again"
          busy={act.isPending}
          error={failure}
          onClose={() => setFailure(undefined)}
          onSubmit={() => send('verify', VERIFIED)}
        >
          Tocsin sent a signed request to {webhook.url}. {causeOf(failure.details.status_code, failure.details.reason)}{' '}
          The receiver checks the signature with the secret, and answers with 2xx.
        </Confirm>
      )}
      {isRevoking && (
        <Confirm
          title="Revoke this webhook?"
          label="Revoke"
          busy={act.isPending}
          error={act.error}
          onClose={() => setRevoking(false)}
          onSubmit={() => send('revoke')}
        >
          {webhook.name ?? webhook.url} gets nothing any more. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

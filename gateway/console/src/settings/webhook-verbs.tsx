import type { TestWebhookReply, TocsinError, Webhook } from '@tocsin/sdk';
import { useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useWrite } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, SecretDialog } from '../ui/dialogs.tsx';
import { TextArea } from '../ui/fields.tsx';
import { say } from '../ui/toast.tsx';
import { causeOf } from './cause-of.ts';
import { describeAnswer, formatMilliseconds } from './delivery-words.ts';
import { headersOf } from './headers.ts';
import { TestButton } from './test-button.tsx';
import { nameOfWebhook, WEBHOOKS } from './webhook-state.tsx';

interface VerbProps {
  webhook: Webhook;
}

const pathOf = ({ id }: Webhook, verb: string) => `${WEBHOOKS}/${encodeURIComponent(id)}/${verb}`;

/** Asks the receiver for an answer, which makes the webhook active. */
export function Verify({ webhook, isPrimary = false }: VerbProps & { isPrimary?: boolean }) {
  const act = useWrite<{ webhook: Webhook }>(WEBHOOKS);
  const [failure, setFailure] = useState<TocsinError>();
  const send = () =>
    act.mutate(
      { path: pathOf(webhook, 'verify') },
      {
        onSuccess: () => {
          setFailure(undefined);
          say('The receiver answered. The webhook is active.');
        },
        onError: setFailure,
      },
    );
  return (
    <>
      <Button kind={isPrimary ? 'primary' : 'normal'} small={!isPrimary} busy={act.isPending} onClick={send}>
        {act.isPending ? 'Verifying' : isPrimary ? 'Verify' : 'Verify again'}
      </Button>
      {failure && (
        <Confirm
          title="Not verified"
          label="Try again"
          busy={act.isPending}
          error={failure}
          onClose={() => setFailure(undefined)}
          onSubmit={send}
        >
          Tocsin sent a signed request to {webhook.url}. {causeOf(failure.details.status_code, failure.details.reason)}{' '}
          The receiver checks the signature with the secret, and answers with 2xx.
        </Confirm>
      )}
    </>
  );
}

/** A verb that needs no question. */
export function Simple({
  webhook,
  verb,
  label,
  isPrimary = false,
}: VerbProps & { verb: 'pause' | 'resume'; label: string; isPrimary?: boolean }) {
  const act = useWrite(WEBHOOKS);
  return (
    <Button
      kind={isPrimary ? 'primary' : 'normal'}
      busy={act.isPending}
      onClick={() => act.mutate({ path: pathOf(webhook, verb) }, { onError: sayError })}
    >
      {label}
    </Button>
  );
}

/** Sends a signed request that changes nothing, and shows what the receiver answers. */
export const Test = ({ webhook }: VerbProps) => (
  <TestButton<TestWebhookReply>
    name={nameOfWebhook(webhook)}
    path={pathOf(webhook, 'test')}
    icon="send"
    labels={['Test', 'Test again']}
    outcomeOf={({ outcome: { result, status, duration_ms: duration, answer } }) => {
      const isAccepted = result === 'succeeded';
      const accepts = isAccepted ? 'accepted' : 'did not accept';
      const how = describeAnswer(isAccepted ? null : result, status);
      const text = `The receiver ${accepts} the request. ${how}, after ${formatMilliseconds(duration)}.`;
      return { isAccepted, text, answer };
    }}
    hint="A test changes nothing: neither the state of the webhook nor its deliveries."
  />
);

export function NewSecret({ webhook }: VerbProps) {
  const act = useWrite<{ secret: string }>(WEBHOOKS);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        small
        onClick={() => {
          act.reset();
          setAsking(true);
        }}
      >
        New secret
      </Button>
      {isAsking && act.data === undefined && (
        <Confirm
          title="Make a new secret?"
          label="Make it"
          busy={act.isPending}
          error={act.error}
          onClose={() => setAsking(false)}
          onSubmit={() => act.mutate({ path: pathOf(webhook, 'rotate-secret') })}
        >
          For 24 hours, requests are signed with the new and the old secret. Give the new one to the receiver meanwhile.
        </Confirm>
      )}
      {isAsking && act.data !== undefined && (
        <SecretDialog
          title="The signing secret"
          label="Secret"
          value={act.data.secret}
          onClose={() => setAsking(false)}
        >
          Give it to the receiver within 24 hours. It is not shown again.
        </SecretDialog>
      )}
    </>
  );
}

export function Headers({ webhook }: VerbProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Replace headers
      </Button>
      {isOpen && (
        <EditDialog<{ headers: string }, unknown>
          title="Replace the headers"
          label="Replace"
          initial={{ headers: '' }}
          request={({ headers }) => ({
            method: 'PUT',
            path: pathOf(webhook, 'headers'),
            body: { headers: headersOf(headers) },
          })}
          refreshes={[WEBHOOKS]}
          onClose={() => setOpen(false)}
        >
          {(bind) => (
            <TextArea
              label="Headers, one in each line"
              placeholder="Authorization: Bearer …"
              hint={`Authorization, or names that begin with X-. They replace ${webhook.header_names.join(', ') || 'nothing'}; empty: none.`}
              {...bind('headers')}
            />
          )}
        </EditDialog>
      )}
    </>
  );
}

export function Revoke({ webhook }: VerbProps) {
  const act = useWrite(WEBHOOKS);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        small
        kind="danger"
        onClick={() => {
          act.reset();
          setAsking(true);
        }}
      >
        Revoke
      </Button>
      {isAsking && (
        <Confirm
          title="Revoke this webhook?"
          label="Revoke"
          busy={act.isPending}
          error={act.error}
          onClose={() => setAsking(false)}
          onSubmit={() => act.mutate({ path: pathOf(webhook, 'revoke') }, { onSuccess: () => setAsking(false) })}
        >
          {nameOfWebhook(webhook)} gets nothing any more, and what waits for it is cancelled. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

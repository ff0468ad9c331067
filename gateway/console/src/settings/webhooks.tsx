import type { Webhook } from '@tocsin/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccess } from '../api/hooks.ts';
import rowCss from '../incidents/incidents.module.css';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { SecretDialog } from '../ui/dialogs.tsx';
import { Check, Input } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { useRowKeys } from '../ui/row-keys.ts';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { explainWebhook, hasFailedLast, nameOfWebhook, useWebhooks, WebhookIcon, WEBHOOKS } from './webhook-state.tsx';

export function WebhooksPage() {
  const { canManage, user } = useAccess();
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ webhook: Webhook; secret: string }>();
  const list = useWebhooks();
  useRowKeys();
  if (user !== undefined && !canManage) return <NoPermission title="Webhooks" what="manage webhooks" />;
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
              <ul data-rows>
                {webhooks.map((webhook) => (
                  <Row key={webhook.id} webhook={webhook} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
      {isCreating && <NewWebhook onDone={setCreated} onClose={() => setCreating(false)} />}
      {created !== undefined && (
        <SecretDialog
          title="The signing secret"
          label="Secret"
          value={created.secret}
          onClose={() => void navigate({ to: '/webhooks/$id', params: { id: created.webhook.id } })}
        >
          Give it to the receiver, then verify. It is not shown again.
        </SecretDialog>
      )}
    </Page>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const {
    id,
    name,
    url,
    include_restricted: isRestricted,
    last_success_at: success,
    last_failure_at: failure,
  } = webhook;
  return (
    <li className={rowCss.row}>
      <WebhookIcon webhook={webhook} />
      <div>
        <Link to="/webhooks/$id" params={{ id }} className={rowCss.title} title={nameOfWebhook(webhook)}>
          {nameOfWebhook(webhook)}
        </Link>
        <p className={ui.facts}>
          <span>{explainWebhook(webhook)}</span>
          {isRestricted && <span>gets restricted incidents, too</span>}
        </p>
      </div>
      <div className={rowCss.state}>
        {name !== null && <span>{url}</span>}
        <span className={rowCss.when}>
          {hasFailedLast(webhook) ? 'failed ' : success !== null && 'last success '}
          <Ago time={hasFailedLast(webhook) ? failure : success} none="nothing sent so far" />
        </span>
      </div>
    </li>
  );
}

function NewWebhook({
  onDone,
  onClose,
}: {
  onDone: (created: { webhook: Webhook; secret: string }) => void;
  onClose: () => void;
}) {
  const { seesAllRestricted } = useAccess();
  return (
    <EditDialog<{ url: string; name: string; isRestricted: boolean }, { webhook: Webhook; secret: string }>
      title="New webhook"
      label="Create"
      initial={{ url: '', name: '', isRestricted: false }}
      request={({ url, name, isRestricted }) => ({
        path: WEBHOOKS,
        body: { url, ...(name !== '' && { name }), ...(isRestricted && { include_restricted: true }) },
      })}
      onDone={onDone}
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

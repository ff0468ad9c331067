import type { Webhook } from '@tocsin/sdk';
import { getRouteApi, Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAccess } from '../api/hooks.ts';
import incidentCss from '../incident/incident.module.css';
import { buttonClass, classes } from '../ui/button.tsx';
import { formatMoment } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Card } from '../ui/layout.tsx';
import { Empty, Loaded, NoPermission } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { Deliveries } from './deliveries.tsx';
import { Head } from './webhook-head.tsx';
import {
  explainWebhook,
  hasFailedLast,
  nameOfWebhook,
  useCanChange,
  useWebhooks,
  wayBackOf,
  WebhookBadge,
} from './webhook-state.tsx';
import { Headers, NewSecret, Revoke, Simple, Test, Verify } from './webhook-verbs.tsx';

const route = getRouteApi('/webhooks/$id');

/** A webhook: how it is, what it got, and what can be done with it. */
export function WebhookPage() {
  const { id } = route.useParams();
  const { canManage, user } = useAccess();
  const list = useWebhooks();
  if (user !== undefined && !canManage) return <NoPermission title="Webhook" what="manage webhooks" />;
  return (
    <div className={ui.page}>
      <Loaded query={list} heading="h1">
        {({ webhooks }) => {
          const webhook = webhooks.find((each) => each.id === id);
          return webhook === undefined ? <Unknown /> : <Shown key={id} webhook={webhook} />;
        }}
      </Loaded>
    </div>
  );
}

const Unknown = () => (
  <Empty
    title="There is nothing here"
    heading="h1"
    icon="search"
    action={
      <Link to="/webhooks" className={buttonClass()}>
        All webhooks
      </Link>
    }
  >
    No webhook has this address. Those that were revoked are forgotten after some weeks.
  </Empty>
);

function Shown({ webhook }: { webhook: Webhook }) {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const canChange = useCanChange(webhook);
  const { id, status, name, url, include_restricted: isRestricted } = webhook;
  if (search['view'] === 'settings') return <Settings webhook={webhook} canChange={canChange} />;
  return (
    <>
      <Head
        back={
          <Link to="/webhooks" className={incidentCss.back}>
            <Icon name="back" size={14} />
            Webhooks
          </Link>
        }
        title={nameOfWebhook(webhook)}
        facts={
          <>
            <span>
              <WebhookBadge webhook={webhook} />
            </span>
            {name !== null && <span>{url}</span>}
            {isRestricted && <span>gets restricted incidents, too</span>}
            {webhook.last_success_at !== null && (
              <span>
                last success <Ago time={webhook.last_success_at} />
              </span>
            )}
            {webhook.last_failure_at !== null && (
              <span>
                last failure <Ago time={webhook.last_failure_at} />
              </span>
            )}
          </>
        }
        actions={
          <>
            {canChange && status !== 'revoked' && <Test webhook={webhook} />}
            {status === 'active' && <Simple webhook={webhook} verb="pause" label="Pause" />}
            <Link to="/webhooks/$id" params={{ id }} search={{ view: 'settings' }} className={buttonClass()}>
              <Icon name="settings" />
              Settings
            </Link>
          </>
        }
      />
      <div className={ui.stack}>
        <State webhook={webhook} canChange={canChange} />
        <Deliveries webhook={webhook} />
      </div>
    </>
  );
}

/** Why the webhook is as it is, with the button that does what is to be done. */
function State({ webhook, canChange }: { webhook: Webhook; canChange: boolean }) {
  const isCalm = webhook.status === 'revoked' || (webhook.status === 'active' && !hasFailedLast(webhook));
  return (
    <div className={isCalm ? ui.muted : ui.notice}>
      <p role="status">
        {explainWebhook(webhook)}
        {!canChange && ' Only somebody who sees restricted incidents can change it, because it gets them.'}
      </p>
      {canChange &&
        webhook.status === 'paused' &&
        (wayBackOf(webhook) === 'verify' ? (
          <Verify isPrimary webhook={webhook} />
        ) : (
          <Simple isPrimary webhook={webhook} verb="resume" label="Resume" />
        ))}
    </div>
  );
}

function Settings({ webhook, canChange }: { webhook: Webhook; canChange: boolean }) {
  const { id, url, status, header_names: headers, include_restricted: isRestricted, created_at: created } = webhook;
  const isOver = status === 'revoked';
  const canEdit = canChange && !isOver;
  return (
    <>
      <Head
        back={
          <Link to="/webhooks/$id" params={{ id }} className={incidentCss.back}>
            <Icon name="back" size={14} />
            {nameOfWebhook(webhook)}
          </Link>
        }
        title="Settings of the webhook"
      />
      <Card>
        <ul>
          <Setting
            name="Receiver"
            about="Its path is not shown, as it may be a secret. A verification asks it for an answer again."
            action={canEdit && status === 'active' && <Verify webhook={webhook} />}
          >
            {url}
          </Setting>
          <Setting name="What it gets" about="Other events are in the event feed.">
            {isRestricted ? 'Declared incidents, restricted ones, too' : 'Declared incidents'}
          </Setting>
          <Setting
            name="Signing secret"
            about="With it, the receiver checks the signature of each request."
            action={canEdit && <NewSecret webhook={webhook} />}
          >
            Shown only when it is made
          </Setting>
          <Setting
            name="Headers"
            about="Each request has them, such as what a gateway before the receiver asks for. Their values are not shown."
            action={canEdit && <Headers webhook={webhook} />}
          >
            {headers.join(', ') || 'None besides those of Tocsin'}
          </Setting>
          <Setting
            name="Created"
            about={isOver ? '' : 'When it is revoked, it ends for good.'}
            action={!isOver && <Revoke webhook={webhook} />}
          >
            {formatMoment(created)}
          </Setting>
        </ul>
      </Card>
    </>
  );
}

const Setting = ({
  name,
  about,
  action,
  children,
}: {
  name: string;
  about: string;
  action?: ReactNode;
  children: ReactNode;
}) => (
  <li className={classes(ui.item, ui.spread)}>
    <div className={ui.field}>
      <span className={ui.label}>{name}</span>
      <span>{children}</span>
      <span className={ui.hint}>{about}</span>
    </div>
    {action && <div>{action}</div>}
  </li>
);

import type { GetWebhookDeliveryReply, RedeliverWebhookReply, WebhookAttempt, WebhookDelivery } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import incidentCss from '../incident/incident.module.css';
import { Button, classes } from '../ui/button.tsx';
import { Copy } from '../ui/dialogs.tsx';
import { formatExact, formatMoment, useNow } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Card } from '../ui/layout.tsx';
import { Loaded, NoPermission } from '../ui/states.tsx';
import { Ago, Badge, Fault } from '../ui/texts.tsx';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { DELIVERIES, DeliveryRows, useAgain, useDeliveries } from './deliveries.tsx';
import css from './deliveries.module.css';
import {
  describeAnswer,
  explainDelivery,
  formatAttempt,
  formatMilliseconds,
  isWaiting,
  lookOf,
  nextRead,
  readableJson,
  whyNotAgain,
} from './delivery-words.ts';
import { Head } from './webhook-head.tsx';
import { nameOfWebhook, useWebhooks } from './webhook-state.tsx';

const route = getRouteApi('/webhooks/$id/deliveries/$delivery');

/** What was sent of an event to a webhook, what the receiver answered, and the way to send it again. */
export function DeliveryPage() {
  const { delivery: id } = route.useParams();
  const { canManage, user } = useAccess();
  if (user !== undefined && !canManage) return <NoPermission title="Delivery" what="manage webhooks" />;
  // By its ID, so that the page of another one does not begin with the data of this one.
  return <Read key={id} id={id} />;
}

function Read({ id }: { id: string }) {
  const { canManage } = useAccess();
  const query = useGet<GetWebhookDeliveryReply>(`${DELIVERIES}/${encodeURIComponent(id)}`, {
    enabled: canManage,
    every: ({ state: { data } }) =>
      data !== undefined && isWaiting(data.delivery) && nextRead(data.delivery, data.attempts),
  });
  return (
    <div className={ui.page}>
      <Loaded query={query} heading="h1">
        {(reply) => <Shown {...reply} />}
      </Loaded>
    </div>
  );
}

function Shown({ delivery, attempts }: GetWebhookDeliveryReply) {
  const now = useNow();
  const again = useAgain(delivery);
  const { webhook_id: webhookId, event_id: event, incident, status, queued_at: queued } = delivery;
  const webhook = useWebhooks().data?.webhooks.find(({ id }) => id === webhookId);
  const others = useDeliveries({ webhook_id: webhookId, event_id: event, limit: 20 }).data?.rows ?? [];
  const { label, tone } = lookOf(delivery);
  const rows = others.filter(({ id }) => id !== delivery.id);
  return (
    <>
      <Head
        back={
          <Link to="/webhooks/$id" params={{ id: webhookId }} className={incidentCss.back}>
            <Icon name="back" size={14} />
            {webhook === undefined ? 'The webhook' : nameOfWebhook(webhook)}
          </Link>
        }
        title={incident === null ? `Delivery ${delivery.id}` : `Delivery of ${incident}`}
        facts={
          <>
            <span>
              <Badge tone={tone}>{label}</Badge>
            </span>
            {incident !== null && (
              <span>
                <Link to="/incidents/$id" params={{ id: incident }}>
                  Open {incident}
                </Link>
              </span>
            )}
            <span title={formatExact(queued)}>
              queued {formatMoment(queued)}, <Ago time={queued} />
            </span>
            {again && <span>{again}</span>}
          </>
        }
        actions={<SendAgain key={status} delivery={delivery} whyNot={whyNotAgain(delivery, webhook, others)} />}
      />
      <div className={ui.stack}>
        <p role="status">{explainDelivery(delivery, attempts, now)}</p>
        <Attempts attempts={attempts} />
        <Body body={delivery.body} />
        {rows.length > 0 && (
          <Card title="Other deliveries of the event">
            <DeliveryRows rows={rows} />
          </Card>
        )}
      </div>
    </>
  );
}

/** Queues the same event again, and shows the new delivery. */
function SendAgain({ delivery, whyNot }: { delivery: WebhookDelivery; whyNot: string | undefined }) {
  const navigate = useNavigate();
  const act = useWrite<RedeliverWebhookReply>(DELIVERIES);
  const send = () =>
    act.mutate(
      { path: `${DELIVERIES}/${delivery.id}/redeliver` },
      {
        onSuccess: ({ delivery: { id, webhook_id: webhook } }) => {
          say('It is queued again. This is the new delivery.');
          const params = { id: webhook, delivery: String(id) };
          void navigate({ to: '/webhooks/$id/deliveries/$delivery', params });
        },
      },
    );
  return (
    <>
      {whyNot !== undefined && (
        <p id="why-not" className={ui.hint}>
          {whyNot}
        </p>
      )}
      <Fault>{act.error?.message}</Fault>
      <Button
        icon="send"
        busy={act.isPending}
        aria-disabled={whyNot !== undefined}
        aria-describedby={whyNot === undefined ? undefined : 'why-not'}
        onClick={() => whyNot === undefined && send()}
      >
        Send again
      </Button>
    </>
  );
}

function Attempts({ attempts }: { attempts: readonly WebhookAttempt[] }) {
  return (
    <Card title="Attempts">
      {attempts.length === 0 ? (
        <p className={classes(ui.item, ui.muted)}>None has ended so far.</p>
      ) : (
        <ol>
          {attempts.toReversed().map((attempt, index) => (
            <Attempt key={attempt.number} attempt={attempt} isLatest={index === 0} />
          ))}
        </ol>
      )}
    </Card>
  );
}

function Attempt({ attempt, isLatest }: { attempt: WebhookAttempt; isLatest: boolean }) {
  const { number, started_at: started, duration_ms: duration, result, status, answer } = attempt;
  const isAccepted = result === 'succeeded';
  return (
    <li className={ui.item}>
      <p>
        <Badge tone={isAccepted ? 'good' : result === 'deferred' ? 'plain' : 'bad'}>{number}</Badge>{' '}
        <span className={ui.strong}>{describeAnswer(isAccepted ? null : result, status)}</span>
      </p>
      <p className={ui.facts}>
        <time dateTime={started} title={formatExact(started)}>
          {formatAttempt(started)}
        </time>
        <span>took {formatMilliseconds(duration)}</span>
        {status !== null && result !== 'succeeded' && result !== 'status' && <span>status {status}</span>}
      </p>
      {answer !== null && (
        <details open={isLatest}>
          <summary>Answer</summary>
          <pre className={classes(ui.code, css.json)}>{answer}</pre>
        </details>
      )}
    </li>
  );
}

/** As it is read; the copy is the text that is signed. */
const Body = ({ body }: { body: string }) => (
  <Card title="Body" padded actions={<Copy value={body} />}>
    <pre className={classes(ui.code, css.json)}>{readableJson(body)}</pre>
  </Card>
);

import type { Query, Webhook, WebhookDelivery } from '@tocsin/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useList, useNameOf } from '../api/hooks.ts';
import rowCss from '../incidents/incidents.module.css';
import { formatMoment, formatTime, plural, useNow } from '../ui/format.ts';
import { useRowKeys } from '../ui/row-keys.ts';
import { Empty, Loaded, More } from '../ui/states.tsx';
import { Tab, Tabs } from '../ui/tabs.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { EVERY } from './connection.tsx';
import {
  type DeliveryStatus,
  describeAnswer,
  describeDelivery,
  isWaiting,
  lookOf,
  STATUSES,
} from './delivery-words.ts';
import css from './deliveries.module.css';
import { IconBadge } from './webhook-state.tsx';

export const DELIVERIES = '/settings/webhook-deliveries';

/** As many pages are read again and again; whoever reads on looks at old ones. */
const MAX_PAGES = 3;

/** Deliveries, newest first. */
export const useDeliveries = (parameters: Query) =>
  useList<WebhookDelivery>(DELIVERIES, 'deliveries', parameters, {
    every: ({ state: { data } }) => (data !== undefined && data.pages.length > MAX_PAGES ? false : EVERY),
  });

/** The deliveries to a webhook. The address has what is shown. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const status = STATUSES.has(search['status'] as DeliveryStatus) ? (search['status'] as DeliveryStatus) : undefined;
  const list = useDeliveries({ webhook_id: webhook.id, status });
  useRowKeys();
  const tab = (label: string, key?: DeliveryStatus) => (
    <Tab
      key={label}
      label={label}
      isCurrent={status === key}
      onChoose={() =>
        void navigate({
          to: '/webhooks/$id',
          params: { id: webhook.id },
          search: { status: key },
          replace: true,
          resetScroll: false,
        })
      }
    />
  );
  return (
    <div>
      <Tabs label="Status">
        {tab('All')}
        {[...STATUSES].map(([key, { label }]) => tab(label, key))}
      </Tabs>
      <section className={ui.card} aria-label="Deliveries" aria-busy={list.isFetching}>
        <Loaded query={list}>
          {({ rows }) =>
            rows.length > 0 ? (
              <DeliveryRows rows={rows} />
            ) : status === undefined ? (
              <Empty title="Nothing was sent so far" icon="send">
                Each declared incident is here with what the receiver answered, for 7 days unless the operator has set
                others.
              </Empty>
            ) : (
              <Empty title="No delivery matches" icon="search" />
            )
          }
        </Loaded>
        <More list={list} isAutomatic />
      </section>
    </div>
  );
}

export function DeliveryRows({ rows }: { rows: readonly WebhookDelivery[] }) {
  return (
    <ul data-rows>
      {rows.map((delivery) => (
        <Row key={delivery.id} delivery={delivery} />
      ))}
    </ul>
  );
}

function Row({ delivery }: { delivery: WebhookDelivery }) {
  const now = useNow();
  const again = useAgain(delivery);
  const { id, webhook_id: webhook, incident, status, attempts, last_error: reason, queued_at: queued } = delivery;
  const { label, tone, icon } = lookOf(delivery);
  // The title says it of others.
  const hasEnded = status === 'succeeded' || status === 'failed';
  const title = describeDelivery(delivery, now);
  return (
    <li className={rowCss.row}>
      <IconBadge tone={tone} icon={icon} label={hasEnded ? '' : label} />
      <div>
        <Link
          to="/webhooks/$id/deliveries/$delivery"
          params={{ id: webhook, delivery: String(id) }}
          className={rowCss.title}
          aria-label={incident === null ? title : `${title}: ${incident}`}
        >
          {title}
        </Link>
        <p className={ui.facts}>
          {hasEnded && <span>{label}</span>}
          {attempts > (isWaiting(delivery) ? 0 : 1) && (
            <span>
              {plural(attempts, 'attempt')}
              {isWaiting(delivery) && reason !== null && `: ${describeAnswer(reason, delivery.last_status)}`}
            </span>
          )}
          {again && <span>{again}</span>}
        </p>
      </div>
      <div className={rowCss.state}>
        {incident === null ? (
          <span className={ui.muted}>Deleted incident</span>
        ) : (
          <Link to="/incidents/$id" params={{ id: incident }} className={css.above}>
            {incident}
          </Link>
        )}
        <span className={rowCss.when} title={formatTime(queued)}>
          {formatMoment(queued)}, <Ago time={queued} />
        </span>
      </div>
    </li>
  );
}

/** Who asked for a redelivery; further ones are counted. */
export function useAgain({ redelivery, requested_by: by }: WebhookDelivery): string | undefined {
  const nameOf = useNameOf();
  if (redelivery === 0) return undefined;
  const who = by === 'operator' ? 'an operator' : nameOf(by ?? '').replace(/^You$/, 'you');
  return `sent again${redelivery > 1 ? ` (${redelivery})` : ''}${who && ` by ${who}`}`;
}

import type { Described } from '../describe-event.ts';
import type { KindOfDestination } from './kind.ts';

const ACTIONS = { began: 'trigger', acted: 'acknowledge', ended: 'resolve' } as const;

/** The severities of Events API v2; others are Tocsin's own. */
const severityOf = ({ rank }: Described) => (['critical', 'error', 'warning', 'info'] as const)[Math.min(rank, 3)];

/**
 * PagerDuty's Events API v2. All events of an incident have one `dedup_key`, so that a repeated request changes nothing
 * there. A summary has 1,024 characters at most.
 */
export const pagerduty: KindOfDestination = {
  needs: { url: 'optional', credential: 'required', recipients: 'none', headers: 'none', template: 'none' },
  url: 'https://events.pagerduty.com/v2/enqueue',
  joins: false,
  takes: ({ phase }) => phase !== 'went on',
  message: ([item], { url, credential }) => {
    if (item === undefined || item.phase === 'went on') throw new Error('an event that PagerDuty does not take');
    const { key, reference, title, occurred_at, service, severity, status, url: link } = item;
    return {
      kind: 'http',
      url,
      body: JSON.stringify({
        routing_key: credential,
        event_action: ACTIONS[item.phase],
        dedup_key: key,
        ...(item.phase === 'began' && {
          payload: {
            summary: [...`${reference} ${title}`].slice(0, 1_000).join(''),
            source: service === '' ? 'tocsin' : service,
            severity: severityOf(item),
            timestamp: occurred_at,
            ...(service !== '' && { component: service }),
            custom_details: { reference, severity, status },
          },
          client: 'Tocsin',
          ...(link !== '' && { client_url: link, links: [{ href: link, text: reference }] }),
        }),
      }),
    };
  },
};

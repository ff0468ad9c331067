import type { Webhook, WebhookAttempt, WebhookDelivery } from '@tocsin/sdk';
import { formatClock, formatName, plural } from '../ui/format.ts';
import type { IconName } from '../ui/icon.tsx';
import { causeOf } from './cause-of.ts';

export type DeliveryStatus = WebhookDelivery['status'];

/** The states of a delivery, those first that somebody looks for. */
export const STATUSES: ReadonlyMap<
  DeliveryStatus,
  { label: string; tone: 'good' | 'warn' | 'bad' | 'plain'; icon: IconName }
> = new Map([
  ['failed', { label: 'Failed', tone: 'bad', icon: 'alert' }],
  ['queued', { label: 'Waiting', tone: 'warn', icon: 'send' }],
  ['held', { label: 'On hold', tone: 'warn', icon: 'theme' }],
  ['succeeded', { label: 'Delivered', tone: 'good', icon: 'check' }],
  ['cancelled', { label: 'Cancelled', tone: 'plain', icon: 'close' }],
]);

/** How the state of a delivery is called and looks; a later release may have others. */
export const lookOf = ({ status }: Pick<WebhookDelivery, 'status'>) =>
  STATUSES.get(status) ?? { label: formatName(status), tone: 'plain' as const, icon: 'send' as const };

/** How often an event is sent again to one webhook at most (contract: Deliveries). */
const MAX_REDELIVERIES = 10;

/** What receivers answer. */
const PHRASES: ReadonlyMap<number, string> = new Map([
  [200, 'OK'],
  [201, 'Created'],
  [202, 'Accepted'],
  [204, 'No Content'],
  [301, 'Moved Permanently'],
  [302, 'Found'],
  [307, 'Temporary Redirect'],
  [308, 'Permanent Redirect'],
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [408, 'Request Timeout'],
  [410, 'Gone'],
  [413, 'Content Too Large'],
  [415, 'Unsupported Media Type'],
  [422, 'Unprocessable Content'],
  [429, 'Too Many Requests'],
  [500, 'Internal Server Error'],
  [501, 'Not Implemented'],
  [502, 'Bad Gateway'],
  [503, 'Service Unavailable'],
  [504, 'Gateway Timeout'],
]);

/** Such as `Answered 503 Service Unavailable`, or why there is no answer. */
export function describeAnswer(reason: string | null, status: number | null): string {
  const cause = causeOf(undefined, reason).replace(/\.$/, '');
  if (cause !== '') return cause;
  return status === null ? 'No answer' : `Answered ${status} ${PHRASES.get(status) ?? ''}`.trimEnd();
}

export const isWaiting = ({ status }: Pick<WebhookDelivery, 'status'>): boolean =>
  status === 'queued' || status === 'held';

/** What became of a delivery, or what it waits for. */
export function describeDelivery(delivery: WebhookDelivery, now: number): string {
  const { status, attempts, due_at: due, last_error: reason, last_status: answered } = delivery;
  if (status === 'held') return 'Waits until the webhook is active';
  if (status === 'cancelled') return 'Is not sent any more';
  if (status !== 'queued') return describeAnswer(reason, answered);
  const next = `Waits for attempt ${attempts + 1}`;
  return due === null || Date.parse(due) <= now ? `${next}, due now` : `${next}, at ${formatClock(due)}`;
}

/** Whether an attempt is under way: it is counted when it begins, and has a record when it has ended. */
const isUnderWay = ({ status, attempts }: WebhookDelivery, ended: readonly WebhookAttempt[]): boolean =>
  status === 'queued' && attempts > (ended.at(-1)?.number ?? 0);

/** A delivery on its page, in a sentence or two. */
export function explainDelivery(delivery: WebhookDelivery, ended: readonly WebhookAttempt[], now: number): string {
  const { status, attempts, last_error: reason, last_status: answered } = delivery;
  const answer = describeAnswer(reason, answered);
  const tried = plural(attempts, 'attempt');
  if (status === 'succeeded') return `The receiver has it. ${answer}, after ${tried}.`;
  if (status === 'failed')
    return `The receiver did not accept it. ${answer}, after ${tried}; Tocsin does not try again.`;
  if (status === 'cancelled') return 'It is not sent any more: the webhook was revoked, or must not get the incident.';
  const next = isUnderWay(delivery, ended) ? `Attempt ${attempts} is under way` : describeDelivery(delivery, now);
  return reason === null ? `${next}.` : `${next}. Before: ${answer}.`;
}

/**
 * Why a delivery cannot be sent again, with what to do.
 * @param others all deliveries of the event to the webhook, as far as they are read
 */
export function whyNotAgain(
  delivery: WebhookDelivery,
  webhook: Pick<Webhook, 'status'> | undefined,
  others: readonly WebhookDelivery[],
): string | undefined {
  if (isWaiting(delivery)) return 'It waits already.';
  if (webhook?.status === 'revoked') return 'The webhook is revoked: it gets nothing any more.';
  if (webhook?.status === 'paused') return 'The webhook is paused: verify or resume it first.';
  if (others.some(isWaiting)) return 'The event waits already: see its other deliveries below.';
  if (others.some(({ redelivery }) => redelivery >= MAX_REDELIVERIES))
    return `The event was sent again ${MAX_REDELIVERIES} times, which is the limit.`;
  return undefined;
}

const [SHORTEST, LONGEST] = [2_000, 15_000];
/** Milliseconds until a delivery that waits is read again: the nearer its next attempt, the sooner. */
export function nextRead(delivery: WebhookDelivery, ended: readonly WebhookAttempt[]): number {
  if (isUnderWay(delivery, ended)) return SHORTEST;
  const distance = delivery.due_at === null ? LONGEST : Math.abs(Date.parse(delivery.due_at) - Date.now());
  return Math.min(Math.max(SHORTEST, distance), LONGEST);
}

const precise = new Intl.DateTimeFormat('en', {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  hourCycle: 'h23',
});
/** Such as `Nov 3, 14:05:07`: attempts are seconds apart. */
export const formatAttempt = (time: string): string => precise.format(new Date(time));

/** Such as `312 ms` or `2.4 s`. */
export const formatMilliseconds = (duration: number): string =>
  duration < 1_000 ? `${Math.round(duration)} ms` : `${(duration / 1_000).toFixed(1)} s`;

/** JSON with a line for each property; other texts as they are. */
export function readableJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

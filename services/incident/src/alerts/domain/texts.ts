import { type Instant, knownTimeZone, localTime } from '@tocsin/runtime';
import { humanId } from '../../incidents/domain/incident.ts';
import {
  type EvidenceLink,
  TIMELINE_LIMITS,
  type TimelineEventProperties,
} from '../../timeline/domain/timeline-event.ts';
import { type Alert, KEPT, type LeftOut } from './alert.ts';
import { shorten } from './body-reader.ts';
import type { Answer } from './decision.ts';
import type { Note, Verb } from './effects.ts';
import type { KnownIncident } from './known.ts';

/** Alerts that an event shows. */
const SHOWN = 20;
/** Characters of each of them. */
const LINE = 1_000;

/** A timeline event about alerts, before it is part of an incident. */
export interface AlertNote extends Pick<TimelineEventProperties, 'startedAt' | 'title' | 'body'> {
  sourceRef: string;
  evidenceLinks: readonly EvidenceLink[];
  images: readonly Image[];
  leftOut: readonly LeftOut[];
}

/** A picture that a monitor shows. */
interface Image {
  url: string;
  filename: string;
  contentType: string;
}

const VERBS: Readonly<Record<Verb, string>> = {
  started: 'Firing',
  raised: 'More severe',
  acknowledged: 'Acknowledged',
  ended: 'Resolved',
  moved: 'In another group',
  quiet: 'Not heard since',
};

interface Telling {
  keyName: string;
  timeZone: string;
  now: Instant;
  /** What a person has closed before. */
  closed: KnownIncident | null;
}

/**
 * Returns the timeline event of alerts that started, ended or were acknowledged at once. It says what they have in common
 * once, and of each what distinguishes it.
 */
export function noteOf(note: Note, telling: Telling): AlertNote {
  const { verb, alerts, count, since } = note;
  const { keyName, timeZone, now, closed } = telling;
  if (since !== undefined) return quietNote(since, count, telling);
  const times = alerts.flatMap(({ startedAt, endedAt }) => (verb === 'ended' ? endedAt : startedAt) ?? []).sort();
  const startedAt = (verb === 'ended' ? times.at(-1) : verb === 'started' ? times[0] : undefined) ?? now;
  const [first] = alerts;
  const isOne = count === 1 && first !== undefined;
  const common = commonOf(alerts);
  const shown = isOne ? [] : alerts.slice(0, SHOWN);
  const unlisted = count - shown.length;
  const lines = shown.map((alert) => lineOf(alert, common));
  const span =
    isOne && verb === 'ended' && first.startedAt !== null
      ? `It fired from ${timeText(first.startedAt, timeZone)} to ${timeText(startedAt, timeZone)}.`
      : '';
  const labels = common.labels.map(([name, value]) => `- ${name}: ${value}`).join('\n');
  const body = [
    closed === null ? '' : `${personOf(closed)} had closed ${humanId(closed.number)}.`,
    common.summary === first?.name ? '' : common.summary,
    common.description,
    [...lines, ...(!isOne && unlisted > 0 ? [`- and ${unlisted} more`] : [])].join('\n'),
    span,
    isOne || labels === '' ? labels : `All of them:\n\n${labels}`,
    `Reported with the API key ${keyName}.`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
  const links = linksOf(alerts);
  const images = imagesOf(alerts);
  const unseen = alerts.length - shown.length;
  return {
    startedAt,
    title: shorten(
      isOne
        ? `${VERBS[verb]}: ${first.name}`
        : `${VERBS[verb]}: ${count} alerts${first === undefined ? '' : `, ${first.name} among them`}`,
      KEPT.name,
    ),
    body: shorten(body, TIMELINE_LIMITS.body),
    sourceRef: shorten(first?.id ?? '', KEPT.identity),
    evidenceLinks: links.slice(0, KEPT.links),
    images: images.slice(0, KEPT.links),
    leftOut: [
      ...(isOne || unseen <= 0 ? [] : [{ field: 'alerts', reason: `Only ${SHOWN} of ${alerts.length} are shown` }]),
      ...(links.length > KEPT.links
        ? [{ field: 'links', reason: `Only ${KEPT.links} of ${links.length} are kept` }]
        : []),
      ...(images.length > KEPT.links
        ? [{ field: 'images', reason: `Only ${KEPT.links} of ${images.length} are kept` }]
        : []),
    ],
  };
}

/** The event of alerts of which nothing is heard any more. */
function quietNote(since: Instant, count: number, { keyName, timeZone, now }: Telling): AlertNote {
  const body = `${count === 1 ? 'An alert' : `${count} alerts`} fired then, and nobody has said that they ended.`;
  return {
    startedAt: now,
    title: `${VERBS.quiet} ${timeText(since, timeZone)}`,
    body: `${count === 1 ? body.replace('they', 'it') : body}\n\nReported with the API key ${keyName}.`,
    ...{ sourceRef: '', evidenceLinks: [], images: [], leftOut: [] },
  };
}

type Common = Pick<Alert, 'summary' | 'description' | 'labels'>;

/** What all alerts have. */
function commonOf(alerts: readonly Alert[]): Common {
  const [first, ...others] = alerts;
  const all = (has: (alert: Alert) => boolean) => others.every(has);
  if (first === undefined) return { summary: '', description: '', labels: [] };
  const labels = others.map((alert) => new Map(alert.labels));
  return {
    summary: all(({ summary }) => summary === first.summary) ? first.summary : '',
    description: all(({ description }) => description === first.description) ? first.description : '',
    labels: first.labels.filter(([name, value]) => labels.every((each) => each.get(name) === value)),
  };
}

function lineOf({ name, summary, description, labels }: Alert, common: Common): string {
  const isCommon = new Set(common.labels.map(([label]) => label));
  const distinctLabels = labels.filter(([label, value]) => !isCommon.has(label) && value !== name);
  const texts = [summary === common.summary ? '' : summary, description === common.description ? '' : description];
  const said = texts.filter((text) => text !== '' && text !== name).join(' ');
  const distinct = distinctLabels.map(([label, value]) => `${label}: ${value}`).join(', ');
  const line = `- ${name}${distinct === '' ? '' : ` (${distinct})`}${said === '' ? '' : `: ${said}`}`;
  return shorten(line.replaceAll(/\s+/g, ' '), LINE);
}

const FIRST_LINKS = ['runbook', 'dashboard', 'panel'];

/** Each link once, those first that say what to do. */
function linksOf(alerts: readonly Alert[]): EvidenceLink[] {
  const links = new Map(alerts.flatMap((alert) => alert.links.map((link) => [link.url, link] as const)));
  const rank = ({ label = '' }: EvidenceLink) =>
    (FIRST_LINKS.indexOf(label.toLowerCase()) + FIRST_LINKS.length + 1) % (FIRST_LINKS.length + 1);
  return [...links.values()].sort((one, other) => rank(one) - rank(other));
}

const IMAGE_TYPES = new Map([
  ['gif', 'image/gif'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['svg', 'image/svg+xml'],
  ['webp', 'image/webp'],
]);

/** Each picture once, by the name that its monitor or its address has. */
function imagesOf(alerts: readonly Alert[]): Image[] {
  const labels = new Map(alerts.flatMap(({ images = [] }) => images.map(({ url, label }) => [url, label ?? ''])));
  return [...labels].map(([url, label]) => {
    const file = new URL(url).pathname.split('/').at(-1) ?? '';
    const type = IMAGE_TYPES.get(/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '');
    return { url, filename: label || shorten(file, KEPT.name) || 'Image', contentType: type ?? 'image/*' };
  });
}

/** As the clocks of the workspace show it. */
export function timeText(time: Instant, timeZone: string): string {
  const zone = knownTimeZone(timeZone);
  const [day = '', clock = ''] = localTime(Date.parse(time), zone).toISOString().split(/[T.]/);
  return `${day} ${clock} (${zone})`;
}

const personOf = ({ closedBy }: KnownIncident) =>
  closedBy === null ? 'Somebody' : /^\d+$/.test(closedBy) ? `User ${closedBy}` : closedBy;

/** The title of an incident that stands for many groups. */
export const stormTitle = (groups: number, keyName: string) =>
  shorten(`${groups} alert groups from ${keyName}`, KEPT.name);

const REASONS = {
  not_firing: 'It is not known to fire',
  archived: 'The incident is archived',
  full: 'The timeline is full',
} as const;

/** Why something was not done; empty: all was. */
export function reasonOf({ reason, remindAt }: Answer, closed: KnownIncident | undefined, timeZone: string): string {
  if (remindAt === undefined || closed === undefined) return reason === undefined ? '' : REASONS[reason];
  const until = timeText(remindAt, timeZone);
  return `${personOf(closed)} has closed the incident; it is declared again if it still fires at ${until}`;
}

import { setImmediate } from 'node:timers/promises';
import {
  BUILT_IN_TEMPLATE,
  isPlaceholder,
  type Placeholder,
  sectionsOf,
  standsInLine,
} from '@tocsin/schemas/postmortem-template';
import { fillTemplate } from '../../configuration/domain/postmortem-template.ts';
import { actorText } from '@tocsin/schemas';
import { MAX_BYTES, MAX_ENTRIES } from '../domain/activity.ts';
import { capitalised, momentText } from '../domain/texts.ts';
import type { WrittenPostmortem } from '../domain/written.ts';
import { inline, item, lineOf, link, list, note, paragraphs, sectionBody, table, textWithParts } from './markdown.ts';
import type { EntryWire, PostmortemWire } from './wire.ts';

/** What stands in the document for a part that has nothing. */
const NOTHING = 'None.';

/** The parts of the document by their placeholders: each makes Markdown of what the JSON has. */
const PARTS = {
  reference: ({ human_id }) => human_id,
  title: ({ title }) => lineOf(title),
  status: ({ status }) => lineOf(status.label),
  severity: ({ severity }) => lineOf(severity.label),
  overview: (postmortem) =>
    list([
      `Status: ${inline(postmortem.status.label)}`,
      `Severity: ${inline(postmortem.severity.label)}`,
      `Customer impact: ${postmortem.customer_impact_status}`,
      ...(postmortem.regions.length === 0 ? [] : [`Regions: ${inline(postmortem.regions.join(', '))}`]),
      ...[
        ['Time to response', postmortem.response_seconds] as const,
        ['Time to recovery', postmortem.recovery_seconds] as const,
      ].flatMap(([label, seconds]) => (seconds === null ? [] : [`${label}: ${durationText(seconds)}`])),
    ]),
  summary: ({ summary }) => paragraphs(summary) || NOTHING,
  moments: ({ moments, time_zone: zone }) =>
    table(
      ['Moment', `Time (${zone})`, 'After the previous'],
      moments.map(({ label, at, seconds_since_previous: since }) => [
        ...[label, momentText(at, zone), since === null ? '' : durationText(since)],
      ]),
    ),
  people: ({ people }) =>
    table(
      ['Role', 'Name'],
      people.map(({ role, label, person }) => [label ?? ROLES[role], actorText(person.name, person.api_key)]),
    ),
  services: ({ services, team }) =>
    list([
      ...services.map(({ slug, tier }) => lineOf(tier === null ? slug : `${slug} (${tier})`)),
      ...(team === null ? [] : [`Team: ${inline(team.name)}`]),
    ]) || NOTHING,
  custom_fields: ({ custom_fields: fields }) =>
    fields.length === 0
      ? NOTHING
      : table(
          ['Field', 'Value'],
          fields.map(({ name, text }) => [name, text]),
        ),
  relations: ({ relations }) =>
    list(
      relations.map(({ type, human_id: reference, title, status }) =>
        inline(`${capitalised(type.replaceAll('_', ' '))} ${reference}: ${title} (${status.label})`),
      ),
    ) || NOTHING,
  follow_ups: ({ follow_ups: followUps }) =>
    list(
      followUps.map(({ title, status, owner, due_on: due, external_url: url }) => {
        const more = [status, ...(owner === null ? [] : [owner.name]), ...(due === null ? [] : [`due ${due}`])].join(
          ', ',
        );
        return `${url === '' ? lineOf(title) : link(title, url)} (${inline(more)})`;
      }),
    ) || NOTHING,
  evidence: ({ links, attachments }) =>
    list([
      ...links.map(({ label, url, summary }) => [link(label, url), inline(summary)].filter(Boolean).join(': ')),
      ...attachments.map(({ filename, size_bytes: bytes }) =>
        lineOf(bytes === 0 ? filename : `${filename} (${bytes} bytes)`),
      ),
    ]) || NOTHING,
  generated_at: ({ generated_at: at, time_zone: zone }) => `${momentText(at, zone)} ${zone}`,
} as const satisfies Record<Exclude<Placeholder, 'activity'>, (postmortem: PostmortemWire) => string>;

/**
 * Returns the post-mortem as Markdown (contract: Post-mortems). No stored text but notes and sections becomes markup.
 * @param options.template of the workspace; empty: the built-in one
 * @param options.written undefined: nobody has begun, and it is made by the template
 */
export async function postmortemDocument(
  postmortem: PostmortemWire,
  { template, written }: { template: string; written?: WrittenPostmortem | undefined },
): Promise<string> {
  const activity = await activityOf(postmortem);
  const partOf = (placeholder: Placeholder) => (placeholder === 'activity' ? activity : PARTS[placeholder](postmortem));
  if (written === undefined) return fillTemplate(template || BUILT_IN_TEMPLATE, partOf);
  return sectionsDocument(written, partOf);
}

/** What is still as in the template that it began from stays Markdown of any kind: an administrator wrote it. */
function sectionsDocument(
  { sections, template }: WrittenPostmortem,
  partOf: (placeholder: Placeholder) => string,
): string {
  const ofTemplate = sectionsOf(template || BUILT_IN_TEMPLATE);
  const titles = new Set(ofTemplate.map(({ title }) => title));
  const bodies = new Set(ofTemplate.map(({ body }) => body));
  const partIf = (isMeant: (placeholder: Placeholder) => boolean) => (name: string) =>
    isPlaceholder(name) && isMeant(name) ? partOf(name) : undefined;
  const parts = { inLine: partIf(standsInLine), block: partIf((placeholder) => !standsInLine(placeholder)) };
  const blocks = sections.flatMap((section) => {
    const { title, body } = section;
    const heading = titles.has(title) ? fillTemplate(title, partOf) : textWithParts(title.trim(), parts);
    return [
      ...(title.trim() === '' ? [] : [`## ${heading}`]),
      bodies.has(body) ? fillTemplate(body, partOf) : sectionBody(section, parts),
    ];
  });
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

const ROLES = {
  incident_manager: 'Incident manager',
  responder: 'Responder',
  role_holder: 'Role',
  declared_by: 'Declared by',
} as const satisfies Record<PostmortemWire['people'][number]['role'], string>;

/** Characters of entries that are escaped before other requests get their turn: a few milliseconds. */
const YIELD_AFTER = 65_536;

async function activityOf({ activity, left_out: leftOut, time_zone: zone }: PostmortemWire): Promise<string> {
  if (activity.length === 0 && leftOut === null) return NOTHING;
  const entries: string[] = [];
  let unyielded = 0;
  for (const entry of activity) {
    const shown = item(blocksOfEntry(entry, zone));
    entries.push(shown);
    unyielded += shown.length;
    if (unyielded < YIELD_AFTER) continue;
    unyielded = 0;
    await setImmediate();
  }
  const { after = 0, timeline_events: events = 0, changes = 0, attachments = 0 } = leftOut ?? {};
  if (events + changes > 0) entries.splice(after, 0, `… ${events + changes} entries are left out here`);
  const shown = `Times are those of ${zone}.\n\n${list(entries)}`;
  if (leftOut === null) return shown;
  const limits = `at most ${MAX_ENTRIES} entries and ${MAX_BYTES / 1_048_576} MiB of them, from the beginning and from the end`;
  return `${shown}\n\nLeft out: ${events} timeline events, ${changes} changes and ${attachments} files. A post-mortem has ${limits}; the timeline and the changelog of the incident have all.`;
}

function blocksOfEntry(
  { at, ended_at: end, type, is_key: isKey, author, ...entry }: EntryWire,
  zone: string,
): string[] {
  const { title, body, tags, changes } = entry;
  const time = momentText(at, zone) + (end === null ? '' : ` to ${momentText(end, zone)}`);
  const who = actorText(author.name, author.api_key);
  return [
    `**${time}** ${inline(`${who}: ${type}${isKey ? ', key event' : ''}`)}`,
    ...(title === '' ? [] : [lineOf(title)]),
    ...note(body),
    ...(tags.length === 0 ? [] : [inline(`Tags: ${tags.join(', ')}`)]),
    ...(changes.length === 0 ? [] : [list(changes.map(({ label, from, to }) => lineOf(`${label}: ${from} → ${to}`)))]),
  ];
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration for people: `2 h 5 min`; of a day or more without seconds. */
export function durationText(seconds: number): string {
  let remaining = seconds;
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(remaining / size);
    remaining -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.slice(0, 3).join(' ') || '0 s';
}

import type { Postmortem, PostmortemEntry, PostmortemPerson } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import type { Placeholder } from '@tocsin/schemas/postmortem-template';
import type { ReactNode } from 'react';
import { IMPACT, labelOf } from '../incidents/describe.ts';
import { classes } from '../ui/button.tsx';
import { formatDay, formatDuration, formatName, formatTime, plural } from '../ui/format.ts';
import { Markdown, SafeLink } from '../ui/markdown.tsx';
import { Table } from '../ui/table.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import css from './postmortem.module.css';

const nameOf = ({ name, api_key: key }: PostmortemPerson): string =>
  key === null || key.prefix.startsWith('tcn_') ? name : `${key.name} (key of ${name})`;

const ROLES: Readonly<Record<string, string>> = {
  incident_manager: 'Lead',
  responder: 'Responder',
  role_holder: 'Role',
  declared_by: 'Declared by',
};

const NONE = <p className={ui.muted}>None.</p>;

/** A list of what there is, or that there is none. */
const Items = ({ items }: { items: readonly ReactNode[] }) =>
  items.length === 0 ? (
    NONE
  ) : (
    <ul className={css.items}>
      {items.map((item, index) => (
        <li key={index}>{item}</li>
      ))}
    </ul>
  );

const Terms = ({ terms }: { terms: readonly (readonly [term: string, value: string])[] }) =>
  terms.length === 0 ? (
    NONE
  ) : (
    <dl className={ui.terms}>
      {terms.map(([term, value], index) => (
        <div key={index} className={css.term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );

function overviewOf(postmortem: Postmortem): (readonly [string, string])[] {
  const { customer_impact_status: impact, regions } = postmortem;
  const times = [
    ['Time to response', postmortem.response_seconds] as const,
    ['Time to recovery', postmortem.recovery_seconds] as const,
  ];
  return [
    ['Status', postmortem.status.label],
    ['Severity', postmortem.severity.label],
    [labelOf('customer_impact_status'), IMPACT.find(([key]) => key === impact)?.[1] ?? impact],
    ...(regions.length === 0 ? [] : [['Regions', regions.join(', ')] as const]),
    ...times.flatMap(([term, seconds]) => (seconds === null ? [] : [[term, formatDuration(seconds)] as const])),
  ];
}

type Part = (postmortem: Postmortem) => ReactNode;

/** The parts that stay true: each shows what the incident is when the page is read. */
const PARTS: Readonly<Partial<Record<Placeholder, Part>>> = {
  overview: (postmortem) => <Terms terms={overviewOf(postmortem)} />,
  summary: ({ summary }) => (summary === '' ? NONE : <p className={css.plain}>{summary}</p>),
  moments: ({ moments }) => (
    <Table
      rows={moments}
      keyOf={({ name }) => name}
      columns={[
        ['Moment', ({ label }) => label, { kind: 'head' }],
        ['Time', ({ at }) => formatTime(at)],
        ['After the previous', ({ seconds_since_previous: since }) => since !== null && formatDuration(since)],
      ]}
    />
  ),
  people: ({ people }) => (
    <Terms
      terms={people.map(({ role, label, person }) => [label ?? ROLES[role] ?? formatName(role), nameOf(person)])}
    />
  ),
  services: ({ services, team }) => (
    <Items
      items={[
        ...services.map(({ slug, tier }) => (tier === null ? slug : `${slug} (${tier})`)),
        ...(team === null ? [] : [`Team: ${team.name}`]),
      ]}
    />
  ),
  custom_fields: ({ custom_fields: fields }) => <Terms terms={fields.map(({ name, text }) => [name, text])} />,
  activity: (postmortem) => <Entries {...postmortem} />,
  relations: ({ relations }) => (
    <Items
      items={relations.map(({ type, human_id: reference, title, status }) => (
        <>
          {labelOf(`relations.${type}`)}{' '}
          <Link to="/incidents/$id" params={{ id: reference }}>
            {reference}
          </Link>{' '}
          {title} ({status.label})
        </>
      ))}
    />
  ),
  follow_ups: ({ follow_ups: followUps }) => (
    <Items
      items={followUps.map(({ title, status, owner, due_on: due, external_url: url }) => (
        <>
          <SafeLink href={url}>{title}</SafeLink>{' '}
          <span className={ui.muted}>
            {[formatName(status), owner && nameOf(owner), due && `due ${formatDay(due)}`].filter(Boolean).join(', ')}
          </span>
        </>
      ))}
    />
  ),
  evidence: ({ links, attachments }) => (
    <Items
      items={[
        ...links.map(({ label, url, summary }) => (
          <>
            <SafeLink href={url}>{label}</SafeLink>
            {summary && `: ${summary}`}
          </>
        )),
        ...attachments.map(({ filename }) => filename),
      ]}
    />
  ),
};

export const PostmortemPart = ({ name, postmortem }: { name: Placeholder; postmortem: Postmortem }) =>
  PARTS[name]?.(postmortem);

/** The timeline and the changes in the order of time. */
function Entries({ activity, left_out: leftOut }: Postmortem) {
  if (activity.length === 0) return NONE;
  const entry = (each: PostmortemEntry) => <Entry key={`${each.kind} ${each.id}`} {...each} />;
  if (leftOut === null) return <ol className={css.entries}>{activity.map(entry)}</ol>;
  const { after, timeline_events: events, changes } = leftOut;
  return (
    <ol className={css.entries}>
      {activity.slice(0, after).map(entry)}
      <li className={ui.muted}>
        {plural(events, 'event')} and {plural(changes, 'change')} are left out here; the page of the incident has all.
      </li>
      {activity.slice(after).map(entry)}
    </ol>
  );
}

const Entry = ({ at, ended_at: end, type, is_key: isKey, author, title, body, tags, changes }: PostmortemEntry) => (
  <li className={classes(isKey && css.key)}>
    <p className={ui.facts}>
      <time dateTime={at}>
        {formatTime(at)}
        {end && ` to ${formatTime(end)}`}
      </time>
      <span>{nameOf(author)}</span>
      {!['note', 'change', ''].includes(type) && <span>{formatName(type)}</span>}
      {isKey && (
        <span>
          <Badge tone="warn">Key event</Badge>
        </span>
      )}
    </p>
    {title && <p className={ui.strong}>{title}</p>}
    {body && <Markdown text={body} />}
    {tags.length > 0 && <p className={ui.muted}>{tags.join(', ')}</p>}
    {changes.map(({ field, label, from, to }) => (
      <p key={field} className={css.plain}>
        {label}: {from} → {to}
      </p>
    ))}
  </li>
);

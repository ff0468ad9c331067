import { withClient } from '../../installation/databases.ts';
import { type Past, PEOPLE } from './data.ts';

const SCHEMA = 'dispatch_organization_acme';
/** Those columns of Dispatch's tables that matter for a history, with its names and types. */
const TABLES = `
create schema ${SCHEMA};
set search_path to ${SCHEMA};
create table project (id serial primary key, name varchar);
create table incident_priority (id serial primary key, name varchar, project_id integer);
create table incident_severity (id serial primary key, name varchar, project_id integer);
create table incident_type (id serial primary key, name varchar, slug varchar, project_id integer);
create table individual_contact (id serial primary key, name varchar, email varchar, is_active boolean default true);
create table participant (id serial primary key, team varchar, incident_id integer,
  individual_contact_id integer references individual_contact (id) on delete cascade);
create table participant_role (id serial primary key, assumed_at timestamp, renounced_at timestamp, role varchar,
  participant_id integer references participant (id) on delete cascade);
create table incident (id serial primary key, name varchar, title varchar not null, description varchar not null,
  resolution varchar not null, status varchar not null, visibility varchar not null, reported_at timestamp,
  stable_at timestamp, closed_at timestamp, created_at timestamp, updated_at timestamp, project_id integer,
  incident_priority_id integer, incident_severity_id integer, incident_type_id integer, duplicate_id integer,
  commander_id integer, reporter_id integer, summary varchar, search_vector tsvector);
create table event (id serial primary key, uuid uuid unique not null, started_at timestamp not null,
  ended_at timestamp not null, source varchar not null, description varchar not null, details json, type varchar,
  owner varchar, pinned boolean, individual_id integer, incident_id integer references incident (id) on delete cascade,
  created_at timestamp, updated_at timestamp, search_vector tsvector);
create index on event (incident_id);
create index on participant (incident_id);
create table tag_type (id serial primary key, name varchar);
create table tag (id serial primary key, name varchar, tag_type_id integer not null);
create table assoc_incident_tags (incident_id integer, tag_id integer, primary key (incident_id, tag_id));
create table document (id serial primary key, resource_type varchar, weblink varchar, incident_id integer);
create table report (id serial primary key, created_at timestamp, details json, details_raw varchar,
  type varchar not null, incident_id integer, participant_id integer, search_vector tsvector);
create table ticket (id serial primary key, weblink varchar, incident_id integer);
create table conference (id serial primary key, weblink varchar, incident_id integer);
create table conversation (id serial primary key, weblink varchar, channel_id varchar, incident_id integer);
create table task (id serial primary key, description varchar, incident_id integer);
create table incident_cost (id serial primary key, amount numeric(10, 2), incident_id integer);
`;

const SEVERITIES = ['Critical', 'High', 'Medium', 'Low'];
const STATUSES = { begun: 'Active', 'worked on': 'Stable', done: 'Closed' } as const;
/** As SQLAlchemy writes UTC: without a zone. */
const at = (time: Date | undefined) => time?.toISOString().replace('Z', '000') ?? null;
/** A deleted contact takes its participants along. */
const contactOf = (email: string) => {
  const index = PEOPLE.findIndex((person) => person.email === email);
  return PEOPLE[index]?.isDeleted === true ? null : index + 1;
};

/** Fills an empty database as a restored dump of Dispatch would. */
export async function fillDispatch(url: string, past: readonly Past[]): Promise<void> {
  await withClient(url, async (client) => {
    const insert = async (table: string, rows: readonly Record<string, unknown>[]) => {
      const columns = Object.keys(rows[0] ?? {}).join(', ');
      // PostgreSQL has no character NUL, in Dispatch neither.
      const values = JSON.stringify(rows).replaceAll(String.raw`\u0000`, '');
      const from = `jsonb_populate_recordset(null::${table}, $1)`;
      await client.query(`insert into ${table} (${columns}) select ${columns} from ${from}`, [values]);
    };
    await client.query(TABLES);
    const named = (names: readonly string[]) => names.map((name, index) => ({ id: index + 1, name }));
    await insert('project', named(['default']));
    await insert('incident_severity', named([...SEVERITIES, 'Undetermined']));
    await insert('incident_priority', named(['High', 'Low']));
    await insert('incident_type', named(['Availability']));
    const active = PEOPLE.filter(({ isDeleted }) => !isDeleted);
    await insert(
      'individual_contact',
      active.map(({ name, email }, index) => ({ id: index + 1, name, email })),
    );
    await insert('tag_type', named(['cause', 'name', 'constructor']));
    await insert(
      'tag',
      ['cause-0', 'cause-1', 'cause-2', 'cause-3'].map((name, id) => ({ id: id + 1, name, tag_type_id: 1 })),
    );
    await insert('incident', past.map(incidentRow));
    const people = past.flatMap(({ number, author, lead }) => [
      { id: number * 2 + 1, incident_id: number + 1, individual_contact_id: contactOf(author.email) },
      { id: number * 2 + 2, incident_id: number + 1, individual_contact_id: contactOf(lead.email) },
    ]);
    await insert('participant', people);
    await insert(
      'participant_role',
      people.map(({ id }) => ({ id, participant_id: id, role: id % 2 === 1 ? 'Reporter' : 'Incident Commander' })),
    );
    // Called like a column of the incident, and like what every object has.
    await insert('tag', [
      { id: 5, name: 'a name of ours', tag_type_id: 2 },
      { id: 6, name: 'ours', tag_type_id: 3 },
    ]);
    await insert(
      'assoc_incident_tags',
      past.flatMap(({ number }) => [(number % 4) + 1, 5, 6].map((tag) => ({ incident_id: number + 1, tag_id: tag }))),
    );
    await insert(
      'incident_cost',
      past.map(({ number }) => ({ id: number + 1, amount: 0, incident_id: number + 1 })),
    );
    await insert(
      'ticket',
      past.map(({ number }) => ({ id: number + 1, weblink: urlOf(number), incident_id: number + 1 })),
    );
    const reports = past.filter(({ number, note }) => note !== '' && number % 5 === 0);
    await insert(
      'report',
      reports.map(({ number, note, createdAt }) => ({
        ...{ id: number + 1, created_at: at(createdAt), details: { conditions: note }, details_raw: null },
        ...{ type: 'Tactical Report', incident_id: number + 1, participant_id: number * 2 + 2 },
      })),
    );
    for (let first = 0; first < past.length; first += 500) {
      await insert('event', past.slice(first, first + 500).flatMap(eventRows));
    }
  });
}

const urlOf = (number: number) => `https://dispatch.acme.example/default/incidents/dispatch-default-${number}`;

function incidentRow({ number, title, description, state, priority, createdAt, endedAt, note }: Past) {
  const severity = SEVERITIES.length - '4321'.indexOf(priority?.charAt(1) ?? '');
  return {
    ...{
      id: number + 1,
      name: `dispatch-default-${number}`,
      title,
      description,
      resolution: note,
      status: STATUSES[state],
    },
    ...{ visibility: number % 30 === 6 ? 'Restricted' : 'Open', project_id: 1, incident_type_id: 1 },
    ...{ incident_priority_id: (number % 2) + 1, incident_severity_id: priority === undefined ? null : severity },
    ...{ reported_at: at(createdAt), created_at: at(createdAt), stable_at: at(endedAt), closed_at: at(endedAt) },
    ...{ reporter_id: number * 2 + 1, commander_id: number * 2 + 2 },
  };
}

/** Its end is before its beginning in some. */
const eventRows = ({ number, happenings, endedAt, createdAt }: Past) =>
  happenings.map(({ at: begin, text, type, person }, index) => ({
    ...{ id: number * 10_000 + index + 1, uuid: uuidOf(number, index), started_at: at(begin) },
    ended_at: at(endedAt !== undefined && endedAt < createdAt ? endedAt : begin),
    ...{ source: 'Dispatch Core App', description: text, details: index === 1 ? { step: type } : {} },
    ...{ type: type === 'work' ? 'Custom event' : 'Assessment updated', pinned: type === 'end' },
    ...{ owner: person.name, individual_id: contactOf(person.email), incident_id: number + 1 },
  }));

const uuidOf = (number: number, index: number) =>
  `00000000-0000-4000-8000-${String(number * 10_000 + index).padStart(12, '0')}`;

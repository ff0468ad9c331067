import { type FactReader, type Facts, type Person, textOf } from '../source.ts';

type Json = Readonly<Record<string, unknown>>;
interface Contact {
  name?: string | null;
  email?: string | null;
}
interface Participant {
  id: number;
  individual?: Contact | null;
  roles?: readonly string[] | null;
}

const listIn = <Item>(details: Json, name: string) => (details[name] ?? []) as Item[];
const utc = (time: unknown) => (typeof time === 'string' ? `${time}Z` : undefined);

const personOf = (contact?: Contact | null): Person | undefined => {
  const name = [contact?.name, contact?.email].find(Boolean);
  return name ? { name, email: contact?.email ?? undefined } : undefined;
};

const typeNamed = (type: unknown) => textOf(type).toLowerCase().split(' ').join('_');

export const dispatchFacts: FactReader = {
  rowsOf: (answer) => answer as { id: number }[],
  factsOf: ({ row, answers }) => {
    const incident = row as Json;
    const [details = {}] = answers('rest') as Json[];
    const events = (answers('events-') as Json[][]).flat();
    const participants = listIn<Participant>(details, 'participants');
    const participant = (id: unknown) => personOf(participants.find((one) => one.id === id)?.individual);
    const created = utc(incident['reported_at'] ?? incident['created_at']);
    const status = textOf(incident['status']);
    const ended = utc(incident['closed_at'] ?? incident['stable_at']) ?? created;
    const changed = status === 'Closed' ? 'closed_at' : status === 'Stable' ? 'stable_at' : '';
    const documents = listIn<{ resource_type?: unknown; weblink?: unknown }>(details, 'documents');
    const reports = listIn<Json>(details, 'reports');
    return {
      title: incident['title'],
      status,
      severity: textOf(incident['incident_severity']),
      times: {
        created_at: created,
        status_changed_at: utc(incident[changed]),
        'moments.first_reported_at': created,
        'moments.recovered_at': utc(incident['stable_at']),
      },
      addresses: {
        'external.url': details['ticket'],
        meet_url: details['conference'],
        doc_url: documents.find(({ resource_type: type }) => type === 'dispatch-incident-document')?.weblink,
      },
      author: participant(incident['reporter_id']),
      manager: participant(incident['commander_id']),
      responders: participants
        .filter(({ roles }) => (roles ?? []).some((role) => role !== 'Observer' && role !== 'Reporter'))
        .flatMap(({ individual }) => personOf(individual) ?? []),
      fields: fieldsOf(incident, details),
      entries: [
        ...(['description', 'resolution', 'summary'] as const).flatMap((id) =>
          textOf(incident[id]).trim() === ''
            ? []
            : [{ id, type: id, at: id === 'description' ? created : ended, texts: [incident[id]] }],
        ),
        ...reports.map((report) => ({
          id: `report:${textOf(report['id'])}`,
          type: typeNamed(report['type']),
          at: utc(report['created_at']),
          texts: [report['details_raw'], report['details']],
          author: participant(report['participant_id']),
        })),
        ...events.map((event) => ({
          id: textOf(event['uuid']),
          type: typeNamed(event['type']),
          at: utc(event['started_at']),
          until: utc(event['ended_at']),
          isKey: event['pinned'] === true,
          texts: [event['description'], event['details']],
          author:
            personOf(event['individual'] as Contact | null) ??
            personOf({ name: [event['owner'], event['source']].map(textOf).find(Boolean) ?? '' }),
        })),
      ],
    };
  },
};

/** Tags are a field for each of their types. */
function fieldsOf(incident: Json, details: Json): Facts['fields'] {
  const tags = listIn<{ name?: unknown; type?: string | null }>(details, 'tags');
  const typeOf = ({ type }: { type?: string | null }) => textOf(type) || 'tags';
  const tagTypes = [...new Set(tags.map(typeOf))];
  const usual: [string, unknown][] = [
    ['name', incident['name']],
    ['priority', incident['incident_priority']],
    ['incident_type', incident['incident_type']],
    ['project', incident['project']],
    ['visibility', incident['visibility'] === 'Open' ? null : incident['visibility']],
    ['duplicate_of', incident['duplicate_id']],
    ['conversation', details['conversation']],
    ['documents', listIn<{ weblink?: unknown }>(details, 'documents').flatMap(({ weblink }) => weblink ?? [])],
    ['tasks', details['tasks']],
    ['costs', details['costs']],
  ];
  const unique = (name: string) => (usual.some(([each]) => each === name) ? `tags.${name}` : name);
  return [
    ...usual,
    ...tagTypes.map(
      (type) => [unique(type), tags.filter((tag) => typeOf(tag) === type).map(({ name }) => name)] as const,
    ),
  ];
}

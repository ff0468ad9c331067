import { earliestBy, type FactReader, type Person, textOf } from '../source.ts';

type Json = Readonly<Record<string, unknown>>;
interface Row extends Json {
  id: string;
}
interface Listed {
  data: readonly Row[];
}

export const opsgenieFacts: FactReader = {
  rowsOf: (answer) => (answer as Listed).data,
  factsOf: ({ row, answers, common }) => {
    const incident = row as Row;
    const rows = (name: string) => (common(name) as Listed[]).flatMap(({ data }) => data);
    const nameOf = (list: string, id: unknown) =>
      (rows(list).find((each) => each.id === id)?.['name'] as string | undefined) ?? textOf(id);
    const personOf = (key: unknown): Person | undefined => {
      if (typeof key !== 'string' || key === '') return undefined;
      const user = rows('users').find((each) => each.id === key || each['username'] === key);
      const email = (user?.['username'] as string | undefined) ?? (key.includes('@') ? key : undefined);
      return { name: (user?.['fullName'] as string | undefined) ?? key, email };
    };
    const pages = (name: string) => (answers(name) as ({ data: unknown } | null)[]).flatMap((page) => page?.data ?? []);
    const logs = pages('logs-') as Json[];
    const notes = pages('notes-') as Json[];
    const timeline = (pages('timeline-') as { entries: Json[] }[]).flatMap(({ entries }) => entries);
    const responders = (incident['responders'] ?? []) as { type: string; id: string }[];
    const [service, ...services] = ((incident['impactedServices'] ?? []) as string[]).map((id) =>
      nameOf('services', id),
    );
    const usual: [string, unknown][] = [
      ['tiny_id', incident['tinyId']],
      ['tags', incident['tags']],
      ['actions', incident['actions']],
      ['further_services', services],
      ['responder_teams', responders.filter(({ type }) => type === 'team').map(({ id }) => nameOf('teams', id))],
    ];
    const extraProperties = Object.entries((incident['extraProperties'] ?? {}) as Json);
    const unique = (name: string) => (usual.some(([each]) => each === name) ? `extraProperties.${name}` : name);
    const contentOf = (part: unknown) => (part as { content?: unknown } | undefined)?.content;
    const earliest = earliestBy(logs, 'createdAt');
    const isOpen = incident['status'] === 'open';
    const description = textOf(incident['description']);
    return {
      title: incident['message'],
      status: textOf(incident['status']),
      severity: textOf(incident['priority']),
      team: incident['ownerTeam'] ? nameOf('teams', incident['ownerTeam']) : undefined,
      service,
      times: {
        created_at: incident['createdAt'],
        ...(!isOpen && { status_changed_at: incident['impactEndDate'] ?? incident['updatedAt'] }),
        'moments.impact_started_at': incident['impactStartDate'],
        'moments.first_reported_at': incident['impactDetectDate'],
        'moments.recovered_at': incident['impactEndDate'],
      },
      addresses: { 'external.url': (incident['links'] as { web?: unknown } | undefined)?.web },
      author: personOf(earliest?.['owner']),
      responders: responders.flatMap(({ type, id }) => (type === 'user' ? (personOf(id) ?? []) : [])),
      fields: [...usual, ...extraProperties.map(([name, value]) => [unique(name), value] as const)],
      entries: [
        ...(description.trim() === ''
          ? []
          : [{ id: 'description', type: 'description', at: incident['createdAt'], texts: [description] }]),
        ...[...logs.map((log) => ['log', log] as const), ...notes.map((note) => ['note', note] as const)].map(
          ([kind, entry]) => ({
            id: `${kind}:${textOf(entry['offset'])}`,
            type: kind === 'note' ? 'note' : entry['type'],
            at: entry['createdAt'],
            texts: [entry[kind]],
            author: personOf(entry['owner']),
          }),
        ),
        ...timeline.map((entry) => ({
          id: textOf(entry['id']),
          type: entry['type'],
          at: entry['eventTime'],
          texts: [contentOf(entry['title']), contentOf(entry['description'])],
          tags: [entry['group'], ...(entry['hidden'] === true ? ['hidden'] : [])],
          author: personOf((entry['actor'] as { name?: unknown } | undefined)?.name),
        })),
      ],
    };
  },
};

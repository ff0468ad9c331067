import { earliestBy, type FactReader, type Person, textOf } from '../source.ts';

interface Reference {
  id?: string | null;
  summary?: string | null;
}
interface Row {
  id: string;
  [name: string]: unknown;
}
interface LogEntry extends Row {
  agent?: Reference | null;
  changeset?: readonly unknown[] | null;
  event_details?: { description?: unknown } | null;
}

export const pagerdutyFacts: FactReader = {
  rowsOf: (answer) => (answer as { incidents: Row[] }).incidents,
  factsOf: ({ row, answers, common }) => {
    const incident = row as Row;
    const users = (common('users') as { users: { id: string; name: string; email?: string }[] }[]).flatMap(
      (page) => page.users,
    );
    const personOf = (reference?: Reference | null): Person | undefined => {
      const user = users.find(({ id }) => id === reference?.id);
      const name = user?.name ?? reference?.summary ?? reference?.id;
      return name ? { name, email: user?.email } : undefined;
    };
    const summaryOf = (name: string) => (incident[name] as Reference | null | undefined)?.summary;
    const bridge = incident['conference_bridge'] as Record<string, unknown> | null | undefined;
    const [team, ...teams] = ((incident['teams'] ?? []) as Reference[]).map(({ summary }) => summary);
    const notes = (answers('notes') as ({ notes: (Row & { user?: Reference })[] } | null)[]).flatMap(
      (page) => page?.notes ?? [],
    );
    const log = (answers('log-') as ({ log_entries: LogEntry[] } | null)[]).flatMap((page) => page?.log_entries ?? []);
    const earliest = (type: string) =>
      earliestBy(
        log.filter((entry) => entry['type'] === type),
        'created_at',
      );
    const customFields = (
      answers('fields') as ({ custom_fields?: { name: string; value?: unknown }[] } | null)[]
    ).flatMap((page) => page?.custom_fields ?? []);
    const usual: [string, unknown][] = [
      ['number', incident['incident_number']],
      ['urgency', incident['urgency']],
      ['incident_key', incident['incident_key']],
      ['escalation_policy', summaryOf('escalation_policy')],
      ['incident_type', (incident['incident_type'] as { name?: unknown } | null | undefined)?.name],
      ['resolve_reason', (incident['resolve_reason'] as { type?: unknown } | null | undefined)?.type],
      ['conference_number', bridge?.['conference_number']],
      ['further_teams', teams],
      ['alerts', (incident['alert_counts'] as { all?: unknown } | undefined)?.all],
    ];
    const nameOf = (name: string) => (usual.some(([each]) => each === name) ? `custom_fields.${name}` : name);
    const assigned = (incident['assignments'] ?? []) as { assignee?: Reference }[];
    return {
      title: incident['title'],
      status: textOf(incident['status']),
      severity: summaryOf('priority') ?? '',
      team: team ?? undefined,
      service: summaryOf('service') ?? undefined,
      times: {
        created_at: incident['created_at'],
        status_changed_at: incident['last_status_change_at'],
        'moments.first_responded_at': earliest('acknowledge_log_entry')?.['created_at'],
        'moments.recovered_at': incident['resolved_at'],
      },
      addresses: { 'external.url': incident['html_url'], meet_url: bridge?.['conference_url'] },
      author: personOf(earliest('trigger_log_entry')?.agent),
      responders: assigned.flatMap(({ assignee }) => personOf(assignee) ?? []),
      fields: [...usual, ...customFields.map(({ name, value }) => [nameOf(name), value] as const)],
      entries: [
        ...log.map((entry) => ({
          id: entry.id,
          type: textOf(entry['type']).replace(/_log_entry$/, ''),
          at: entry['created_at'],
          texts: [entry['summary'], entry['note'], entry.event_details?.description, ...(entry.changeset ?? [])],
          author: personOf(entry.agent),
        })),
        ...notes.map((note) => ({
          id: `note:${note.id}`,
          type: 'note',
          at: note['created_at'],
          texts: [note['content']],
          author: personOf(note.user),
        })),
      ],
    };
  },
};

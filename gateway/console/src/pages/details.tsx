import type { Incident } from '@tocsin/sdk';
import { write } from '../api/client.ts';
import { refresh, useConfiguration, useFields, useNameOf, usePeople, useServices, useTeams } from '../api/hooks.ts';
import { formatValue } from '../ui/format.ts';
import { Ago, Card, choices, css as ui, type Options, ServiceNames, SeverityBadge, StatusText } from '../ui/ui.tsx';
import { choiceEditor, fieldEditor, listEditor, momentEditor, severalEditor, Term, textEditor } from './editable.tsx';
import type { Changes } from './save-incident.tsx';

const NONE = ['', 'None'] as const;
const IMPACT: Options = [
  ['unknown', 'Not known'],
  ['none', 'Not affected'],
  ['confirmed', 'Affected'],
];
const MOMENTS = [
  ['impact_started_at', 'Impact began'],
  ['first_reported_at', 'Reported'],
  ['first_responded_at', 'Responded'],
  ['recovered_at', 'Recovered'],
] as const;
const LINKS = [
  ['meet_url', 'Call'],
  ['doc_url', 'Document'],
] as const;

const Nothing = ({ children = 'Add' }: { children?: string }) => <span className={ui.muted}>{children}</span>;

export function Details({
  incident,
  canEdit,
  save,
}: {
  incident: Incident;
  canEdit: boolean;
  save: (changes: Changes) => Promise<void>;
}) {
  const { statuses, severities } = useConfiguration();
  const { data: teams = [] } = useTeams();
  const { data: people = [] } = usePeople();
  const { data: services = [] } = useServices();
  const nameOf = useNameOf();
  const persons = choices(
    people.filter(({ active }) => active),
    'id',
    'name',
  );
  const property = <Name extends keyof Incident>(name: Name) => ({
    value: incident[name],
    canEdit,
    onSave: async (value: Incident[Name]) => save({ [name]: value }),
  });
  return (
    <dl>
      <Term name="Severity" {...property('severity')} editor={choiceEditor(choices(severities, 'key', 'label'))}>
        <SeverityBadge value={incident.severity} />
      </Term>
      <Term name="Status" {...property('status')} editor={choiceEditor(choices(statuses, 'key', 'label'))}>
        <StatusText value={incident.status} />
      </Term>
      <Term name="Lead" {...property('incident_manager')} editor={choiceEditor([NONE, ...persons])}>
        {incident.incident_manager ? nameOf(incident.incident_manager) : <Nothing>Nobody</Nothing>}
      </Term>
      <Term name="Responders" {...property('incident_responders')} editor={severalEditor(persons)}>
        {incident.incident_responders.map(nameOf).join(', ') || <Nothing>Nobody</Nothing>}
      </Term>
      <Term
        name="Service"
        {...property('service')}
        editor={textEditor({ list: 'services', max: 128 })}
        after={<ServiceNames id="services" />}
      >
        {services.find(({ slug }) => slug === incident.service)?.name ?? (incident.service || <Nothing />)}
      </Term>
      <Term
        name="Team"
        value={String(incident.team_id ?? '')}
        canEdit={canEdit}
        editor={choiceEditor([NONE, ...choices(teams, 'id', 'name')])}
        onSave={async (value) => save({ team_id: value === '' ? null : Number(value) })}
      >
        {teams.find(({ id }) => id === incident.team_id)?.name ?? <Nothing />}
      </Term>
      <Term name="Customers" {...property('customer_impact_status')} editor={choiceEditor(IMPACT)}>
        {IMPACT.find(([key]) => key === incident.customer_impact_status)?.[1]}
      </Term>
      <Term name="Regions" label="Regions, with commas between them" {...property('regions')} editor={listEditor}>
        {incident.regions.join(', ') || <Nothing />}
      </Term>
      {MOMENTS.map(([name, label]) => (
        <Term key={name} name={label} {...property(name)} editor={momentEditor}>
          {incident[name] === null ? <Nothing /> : <Ago time={incident[name]} />}
        </Term>
      ))}
      {LINKS.map(([name, label]) => (
        <Term
          key={name}
          name={label}
          label={`${label}, a web address`}
          {...property(name)}
          editor={textEditor({ type: 'url', max: 2048 })}
          after={
            incident[name] && (
              <a href={incident[name]} target="_blank" rel="noreferrer">
                Open
              </a>
            )
          }
        >
          {incident[name] || <Nothing />}
        </Term>
      ))}
    </dl>
  );
}

/** The values of the custom fields, each saved by itself. */
export function FieldValues({ incident, canEdit }: { incident: Incident; canEdit: boolean }) {
  const { data: fields = [] } = useFields();
  if (fields.length === 0) return null;
  const path = `/incidents/${incident.id}/custom-fields`;
  const save = async (fieldId: number, value: unknown) => {
    await (value === undefined
      ? write({ method: 'DELETE', path: `${path}/${fieldId}` })
      : write({ method: 'PATCH', path, body: { values: [{ field_id: fieldId, value }] } }));
    await refresh('/incidents');
  };
  return (
    <Card title="Fields" padded>
      <dl>
        {fields.map((field) => {
          const value = incident.custom_fields[field.slug];
          return (
            <Term
              key={field.id}
              name={field.name}
              value={value}
              canEdit={canEdit}
              editor={fieldEditor(field)}
              onSave={async (next) => save(field.id, next)}
            >
              {value === undefined ? <Nothing /> : formatValue(value)}
            </Term>
          );
        })}
      </dl>
    </Card>
  );
}

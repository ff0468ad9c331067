import { write } from '../api/client.ts';
import { refresh, useConfiguration, useFields, useNameOf, usePeople, useServices, useTeams } from '../api/hooks.ts';
import type { Incident } from '../api/types.ts';
import { formatValue } from '../ui/format.ts';
import { Ago, Card, css as ui, SeverityBadge, StatusText } from '../ui/ui.tsx';
import {
  choiceEditor,
  Editable,
  fieldEditor,
  listEditor,
  momentEditor,
  severalEditor,
  Term,
  textEditor,
} from './editable.tsx';
import type { Changes } from './save-incident.tsx';

const NONE = ['', 'None'] as const;
const IMPACT = [
  ['unknown', 'Not known'],
  ['none', 'Not affected'],
  ['confirmed', 'Affected'],
] as const;
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
  const persons = people.filter(({ active }) => active).map(({ id, name }) => [String(id), name] as const);
  const property = <Name extends keyof Incident>(name: Name) => ({
    value: incident[name],
    canEdit,
    onSave: async (value: Incident[Name]) => save({ [name]: value }),
  });
  return (
    <dl>
      <Term name="Severity">
        <Editable
          label="Severity"
          {...property('severity')}
          editor={choiceEditor(severities.map(({ key, label }) => [key, label]))}
        >
          <SeverityBadge value={incident.severity} />
        </Editable>
      </Term>
      <Term name="Status">
        <Editable
          label="Status"
          {...property('status')}
          editor={choiceEditor(statuses.map(({ key, label }) => [key, label]))}
        >
          <StatusText value={incident.status} />
        </Editable>
      </Term>
      <Term name="Lead">
        <Editable label="Lead" {...property('incident_manager')} editor={choiceEditor([NONE, ...persons])}>
          {incident.incident_manager ? nameOf(incident.incident_manager) : <Nothing>Nobody</Nothing>}
        </Editable>
      </Term>
      <Term name="Responders">
        <Editable label="Responders" {...property('incident_responders')} editor={severalEditor(persons)}>
          {incident.incident_responders.length > 0 ? (
            incident.incident_responders.map(nameOf).join(', ')
          ) : (
            <Nothing>Nobody</Nothing>
          )}
        </Editable>
      </Term>
      <Term name="Service">
        <Editable label="Service" {...property('service')} editor={textEditor({ list: 'services', max: 128 })}>
          {services.find(({ slug }) => slug === incident.service)?.name ?? (incident.service || <Nothing />)}
        </Editable>
        <datalist id="services">
          {services.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {name}
            </option>
          ))}
        </datalist>
      </Term>
      <Term name="Team">
        <Editable
          label="Team"
          value={incident.team_id === null ? '' : String(incident.team_id)}
          canEdit={canEdit}
          editor={choiceEditor([NONE, ...teams.map(({ id, name }) => [String(id), name] as const)])}
          onSave={async (value) => save({ team_id: value === '' ? null : Number(value) })}
        >
          {teams.find(({ id }) => id === incident.team_id)?.name ?? <Nothing />}
        </Editable>
      </Term>
      <Term name="Customers">
        <Editable label="Customers" {...property('customer_impact_status')} editor={customersEditor}>
          {IMPACT.find(([key]) => key === incident.customer_impact_status)?.[1]}
        </Editable>
      </Term>
      <Term name="Regions">
        <Editable label="Regions, with commas between them" {...property('regions')} editor={listEditor}>
          {incident.regions.length > 0 ? incident.regions.join(', ') : <Nothing />}
        </Editable>
      </Term>
      {MOMENTS.map(([name, label]) => (
        <Term key={name} name={label}>
          <Editable label={label} {...property(name)} editor={momentEditor}>
            {incident[name] === null ? <Nothing /> : <Ago time={incident[name]} />}
          </Editable>
        </Term>
      ))}
      {LINKS.map(([name, label]) => (
        <Term key={name} name={label}>
          <Editable
            label={`${label}, a web address`}
            {...property(name)}
            editor={textEditor({ type: 'url', max: 2048 })}
          >
            {incident[name] || <Nothing />}
          </Editable>
          {incident[name] && (
            <a href={incident[name]} target="_blank" rel="noreferrer">
              Open
            </a>
          )}
        </Term>
      ))}
    </dl>
  );
}

const customersEditor = (
  value: Incident['customer_impact_status'],
  set: (value: Incident['customer_impact_status']) => void,
  label: string,
) => choiceEditor(IMPACT)(value, (next) => set(next as Incident['customer_impact_status']), label);

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
            <Term key={field.id} name={field.name}>
              <Editable
                label={field.name}
                value={value}
                canEdit={canEdit}
                editor={fieldEditor(field)}
                onSave={async (next) => save(field.id, next)}
              >
                {value === undefined ? <Nothing /> : formatValue(value)}
              </Editable>
            </Term>
          );
        })}
      </dl>
    </Card>
  );
}

import type { Incident } from '@tocsin/sdk';
import { sayError } from '../api/failures.ts';
import { useConfiguration, useFields, useNameOf, useResponders, useServices, useTeams } from '../api/hooks.ts';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { formatValue } from '../ui/format.ts';
import { choices } from '../ui/fields.tsx';
import { ServiceNames } from '../incidents/incident-labels.tsx';
import { Card } from '../ui/layout.tsx';
import { SafeLink } from '../ui/markdown.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { IMPACT, labelOf, ROLE } from '../incidents/describe.ts';
import { useEditedIncident } from './save-incident.tsx';
import { Nothing, Term } from './editable.tsx';
import { Visibility } from './visibility.tsx';
import { choiceEditor, fieldEditor, listEditor, momentEditor, severalEditor, textEditor } from './editors.tsx';

const NONE = ['', 'None'] as const;
const MOMENTS = [
  'impact_started_at',
  'first_reported_at',
  'first_responded_at',
  'recovered_at',
  'next_update_at',
] as const;
const LINKS = ['meet_url', 'doc_url'] as const;

/** The editor of one of the people who can be chosen, and the names of those. */
export function usePersons() {
  const persons = choices(useResponders(), 'id', 'name');
  const nameOf = useNameOf();
  return { persons, nameOf, personEditor: choiceEditor([NONE, ...persons], nameOf) };
}

export function Details({ incident }: { incident: Incident }) {
  const { data: teams = [] } = useTeams();
  const { data: services = [] } = useServices();
  const { persons, nameOf } = usePersons();
  // An archived team is not in the list.
  const teamName = (id: string) => teams.find((team) => String(team.id) === id)?.name ?? `Team ${id}`;
  const property = <Name extends keyof Incident>(name: Name) => ({
    name,
    term: labelOf(name),
    value: incident[name],
  });
  return (
    <dl>
      <Visibility incident={incident} />
      <Term {...property('incident_responders')} editor={severalEditor(persons, nameOf)}>
        {incident.incident_responders.map(nameOf).join(', ') || <Nothing asks="Nobody">Nobody</Nothing>}
      </Term>
      <Roles roles={incident.roles} />
      <Term
        {...property('service')}
        editor={textEditor({ list: 'services', max: 128 })}
        after={<ServiceNames id="services" />}
      >
        {services.find(({ slug }) => slug === incident.service)?.name ?? (incident.service || <Nothing />)}
      </Term>
      <Term
        name="team_id"
        term="Team"
        value={String(incident.team_id ?? '')}
        editor={choiceEditor([NONE, ...choices(teams, 'id', 'name')], teamName)}
        toApi={(id) => (id === '' ? null : Number(id))}
      >
        {incident.team_id === null ? <Nothing /> : teamName(String(incident.team_id))}
      </Term>
      <Term {...property('customer_impact_status')} editor={choiceEditor(IMPACT)}>
        {IMPACT.find(([key]) => key === incident.customer_impact_status)?.[1]}
      </Term>
      <Term {...property('regions')} label="Regions, with commas between them" editor={listEditor}>
        {incident.regions.join(', ') || <Nothing />}
      </Term>
      {MOMENTS.map((name) => (
        <Term
          key={name}
          {...property(name)}
          editor={momentEditor}
          after={name === 'first_responded_at' && <FirstAct incident={incident} />}
        >
          {incident[name] === null ? <Nothing /> : <Ago time={incident[name]} />}
        </Term>
      ))}
      {LINKS.map((name) => (
        <Term
          key={name}
          {...property(name)}
          label={`${labelOf(name)}, a web address`}
          editor={textEditor({ type: 'url', max: 2048 })}
          after={incident[name] && <SafeLink href={incident[name]}>Open</SafeLink>}
        >
          {incident[name] || <Nothing />}
        </Term>
      ))}
      <Term
        {...property('slack_channel_id')}
        label="Chat channel, its ID in Slack"
        editor={textEditor({ max: 64 })}
        after={
          incident.slack_channel_id && (
            <SafeLink href={`https://slack.com/app_redirect?channel=${encodeURIComponent(incident.slack_channel_id)}`}>
              Open
            </SafeLink>
          )
        }
      >
        {incident.slack_channel_id || <Nothing />}
      </Term>
    </dl>
  );
}

/** Who has which role, those of roles that the configuration has no more included. */
function Roles({ roles }: Pick<Incident, 'roles'>) {
  const configured = useConfiguration().roles;
  const { persons, nameOf, personEditor } = usePersons();
  const holdersOf = new Map(Object.entries(roles));
  const removed = [...holdersOf.keys()].filter((key) => configured.every((role) => role.key !== key));
  const shown = [...configured, ...removed.map((key) => ({ key, label: key, several_holders: true }))];
  return shown.map(({ key, label, several_holders: hasSeveral }) => {
    const holders = holdersOf.get(key) ?? [];
    const named = { name: ROLE + key, term: label };
    const children = holders.map(nameOf).join(', ') || <Nothing asks="Nobody">Nobody</Nothing>;
    return hasSeveral || holders.length > 1 ? (
      <Term key={key} {...named} value={holders} editor={severalEditor(persons, nameOf)}>
        {children}
      </Term>
    ) : (
      <Term key={key} {...named} value={holders[0] ?? ''} editor={personEditor} toApi={(id) => (id === '' ? [] : [id])}>
        {children}
      </Term>
    );
  });
}

/** What stands for the response in statistics as long as nobody has recorded it, and records it. */
function FirstAct({ incident: { first_responded_at: responded, first_acted_at: acted } }: { incident: Incident }) {
  const { revision, canEdit, notRecorded, save } = useEditedIncident();
  const [busy, setBusy] = useState(false);
  if (responded !== null || acted === null || notRecorded !== undefined) return null;
  const record = async () => {
    setBusy(true);
    const edit = { changes: { first_responded_at: acted }, base: { first_responded_at: responded }, revision };
    await save(edit).catch(sayError);
    setBusy(false);
  };
  return (
    <p className={ui.hint}>
      First act of another person <Ago time={acted} />{' '}
      {canEdit && (
        <Button small busy={busy} onClick={() => void record()}>
          Use it
        </Button>
      )}
    </p>
  );
}

/** The values of the custom fields, each saved by itself. */
export function FieldValues({ incident }: { incident: Incident }) {
  const { data: fields = [] } = useFields();
  if (fields.length === 0) return null;
  return (
    <Card title="Fields" padded>
      <dl>
        {fields.map((field) => {
          const value = incident.custom_fields[field.slug];
          return (
            <Term
              key={field.id}
              name={`custom_fields.${field.slug}`}
              term={field.name}
              value={value}
              editor={fieldEditor(field)}
            >
              {value === undefined ? <Nothing /> : formatValue(value)}
            </Term>
          );
        })}
      </dl>
    </Card>
  );
}

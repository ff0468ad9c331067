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
import { type FoldableTerm, FoldableTerms } from './foldable-terms.tsx';
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
  const { persons, nameOf } = usePersons();
  // An archived team is not in the list.
  const teamName = (id: string) => teams.find((team) => String(team.id) === id)?.name ?? `Team ${id}`;
  const property = propertyOf(incident);
  const terms: FoldableTerm[] = [
    {
      name: 'incident_responders',
      isEmpty: incident.incident_responders.length === 0,
      term: (
        <Term key="incident_responders" {...property('incident_responders')} editor={severalEditor(persons, nameOf)}>
          {incident.incident_responders.map(nameOf).join(', ') || <Nothing asks="Nobody">Nobody</Nothing>}
        </Term>
      ),
    },
    ...useRoleTerms(incident),
    useServiceTerm(incident),
    {
      name: 'team_id',
      isEmpty: incident.team_id === null,
      term: (
        <Term
          key="team_id"
          name="team_id"
          term="Team"
          value={String(incident.team_id ?? '')}
          editor={choiceEditor([NONE, ...choices(teams, 'id', 'name')], teamName)}
          toApi={(id) => (id === '' ? null : Number(id))}
        >
          {incident.team_id === null ? <Nothing /> : teamName(String(incident.team_id))}
        </Term>
      ),
    },
    {
      name: 'customer_impact_status',
      isEmpty: false,
      term: (
        <Term key="customer_impact_status" {...property('customer_impact_status')} editor={choiceEditor(IMPACT)}>
          {IMPACT.find(([key]) => key === incident.customer_impact_status)?.[1]}
        </Term>
      ),
    },
    {
      name: 'regions',
      isEmpty: incident.regions.length === 0,
      term: (
        <Term key="regions" {...property('regions')} label="Regions, with commas between them" editor={listEditor}>
          {incident.regions.join(', ') || <Nothing />}
        </Term>
      ),
    },
    ...momentTerms(incident),
    ...linkTerms(incident),
  ];
  return (
    <>
      <dl>
        <Visibility incident={incident} />
      </dl>
      <FoldableTerms terms={terms} one="property" many="properties" />
    </>
  );
}

/** What the editor of a property needs. */
const propertyOf =
  (incident: Incident) =>
  <Name extends keyof Incident>(name: Name) => ({ name, term: labelOf(name), value: incident[name] });

/** When things happened. */
function momentTerms(incident: Incident): FoldableTerm[] {
  const property = propertyOf(incident);
  return MOMENTS.map((name) => ({
    name,
    isEmpty: incident[name] === null && (name !== 'first_responded_at' || incident.first_acted_at === null),
    term: (
      <Term
        key={name}
        {...property(name)}
        editor={momentEditor}
        after={name === 'first_responded_at' && <FirstAct incident={incident} />}
      >
        {incident[name] === null ? <Nothing /> : <Ago time={incident[name]} />}
      </Term>
    ),
  }));
}

/** What leads to other systems. */
function linkTerms(incident: Incident): FoldableTerm[] {
  const { slack_channel_id: channel } = incident;
  return [
    ...LINKS.map((name) => ({
      name,
      isEmpty: incident[name] === '',
      term: (
        <Term
          key={name}
          name={name}
          term={labelOf(name)}
          value={incident[name]}
          label={`${labelOf(name)}, a web address`}
          editor={textEditor({ type: 'url', max: 2048 })}
          after={incident[name] && <SafeLink href={incident[name]}>Open</SafeLink>}
        >
          {incident[name] || <Nothing />}
        </Term>
      ),
    })),
    {
      name: 'slack_channel_id',
      isEmpty: channel === '',
      term: (
        <Term
          key="slack_channel_id"
          name="slack_channel_id"
          term={labelOf('slack_channel_id')}
          value={channel}
          label="Chat channel, its ID in Slack"
          editor={textEditor({ max: 64 })}
          after={
            channel && (
              <SafeLink href={`https://slack.com/app_redirect?channel=${encodeURIComponent(channel)}`}>Open</SafeLink>
            )
          }
        >
          {channel || <Nothing />}
        </Term>
      ),
    },
  ];
}

/** The service with its runbook. */
function useServiceTerm(incident: Incident): FoldableTerm {
  const service = useServices().data?.find(({ slug }) => slug === incident.service);
  return {
    name: 'service',
    isEmpty: incident.service === '',
    term: (
      <Term
        key="service"
        {...propertyOf(incident)('service')}
        editor={textEditor({ list: 'services', max: 128 })}
        after={
          <>
            <ServiceNames id="services" />
            {service?.runbook_url && <SafeLink href={service.runbook_url}>Runbook</SafeLink>}
          </>
        }
      >
        {service?.name ?? (incident.service || <Nothing />)}
      </Term>
    ),
  };
}

/** Who has which role, those of roles that the configuration has no more included. */
function useRoleTerms({ roles }: Pick<Incident, 'roles'>): FoldableTerm[] {
  const configured = useConfiguration().roles;
  const { persons, nameOf, personEditor } = usePersons();
  const holdersOf = new Map(Object.entries(roles));
  const removed = [...holdersOf.keys()].filter((key) => configured.every((role) => role.key !== key));
  const shown = [...configured, ...removed.map((key) => ({ key, label: key, several_holders: true }))];
  return shown.map(({ key, label, several_holders: hasSeveral }) => {
    const holders = holdersOf.get(key) ?? [];
    const named = { name: ROLE + key, term: label };
    const children = holders.map(nameOf).join(', ') || <Nothing asks="Nobody">Nobody</Nothing>;
    const term =
      hasSeveral || holders.length > 1 ? (
        <Term key={key} {...named} value={holders} editor={severalEditor(persons, nameOf)}>
          {children}
        </Term>
      ) : (
        <Term
          key={key}
          {...named}
          value={holders[0] ?? ''}
          editor={personEditor}
          toApi={(id) => (id === '' ? [] : [id])}
        >
          {children}
        </Term>
      );
    return { name: ROLE + key, isEmpty: holders.length === 0, term };
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
      <FoldableTerms
        one="field"
        terms={fields.map((field) => {
          const name = `custom_fields.${field.slug}`;
          const value = incident.custom_fields[field.slug];
          return {
            name,
            isEmpty: value === undefined,
            term: (
              <Term key={field.id} name={name} term={field.name} value={value} editor={fieldEditor(field)}>
                {value === undefined ? <Nothing /> : formatValue(value)}
              </Term>
            ),
          };
        })}
      />
    </Card>
  );
}

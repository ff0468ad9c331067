import type { CustomField, Incident } from '@tocsin/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import {
  useAccess,
  useConfiguration,
  useContentKey,
  useFields,
  useMe,
  useOnCallLead,
  useResponders,
  useServices,
  useTeams,
} from '../api/hooks.ts';
import { type Bind, EditDialog } from '../resources/edit-dialog.tsx';
import { useDraft } from '../ui/drafts.ts';
import { Check, choices, Input, Select, withStored } from '../ui/fields.tsx';
import ui from '../ui/ui.module.css';
import { FieldInput, nameOf } from './field-input.tsx';
import { ShortTitle } from './short-title.tsx';
import { SimilarIncidents } from './similar.tsx';
import { NOBODY, ViewersInput } from './visibility.tsx';

interface Draft {
  title: string;
  /** Empty: the default one. */
  severity: string;
  /** A slug of the catalog, `OTHER`, or empty: not known yet. */
  service: string;
  /** What is not in the catalog. */
  other: string;
  team: string;
  /** Absent: as the workspace suggests; empty: nobody. */
  lead?: string;
  shortTitle: string;
  hasChannel: boolean;
  /** Absent: as the severity says. */
  restricted?: boolean;
  /** Who sees it besides those who work on it. */
  viewers?: Incident['visible_to'];
  /** By the ID of the field; null: emptied. */
  values: Readonly<Record<number, unknown>>;
}

const EMPTY: Draft = {
  ...{ title: '', severity: '', service: '', other: '', team: '', shortTitle: '' },
  ...{ hasChannel: false, values: {} },
};

/** No slug has a space. */
const OTHER = ' other';
const NOT_YET = ['', 'Not known yet'] as const;

/**
 * Three fields, and what the workspace asks for; everything else can wait until the incident exists.
 * @param props `service` is chosen at first; its draft is one of its own
 */
export function DeclareDialog({ service = '', onClose }: { service?: string; onClose: () => void }) {
  const { severities } = useConfiguration();
  const { data: fields = [] } = useFields();
  const [suggested, setSuggested] = useState('');
  const keptAs = `declare ${service}`.trim();
  const goTo = useLeave(keptAs, onClose);
  const key = useContentKey();
  const asked = fields.filter(({ show_on_creation: isAsked }) => isAsked);
  const severityOf = ({ severity }: Draft) =>
    severity || (severities.find(({ is_default: isDefault }) => isDefault)?.key ?? '');
  const isRestricted = (draft: Draft) =>
    draft.restricted ?? severities.find(({ key: each }) => each === severityOf(draft))?.restricted === true;
  const bodyOf = (draft: Draft) => ({
    title: draft.title,
    severity: severityOf(draft),
    service: serviceOf(draft),
    ...(draft.team !== '' && { team_id: Number(draft.team) }),
    ...((draft.lead ?? suggested) !== '' && { incident_manager: draft.lead ?? suggested }),
    ...(draft.shortTitle !== '' && { short_title: draft.shortTitle }),
    ...(draft.hasChannel && { create_slack_channel: true }),
    ...(draft.restricted !== undefined && { restricted: draft.restricted }),
    ...(draft.viewers !== undefined && isRestricted(draft) && { visible_to: draft.viewers }),
    ...(asked.length > 0 && { custom_field_values: asked.flatMap((field) => valueOf(field, draft)) }),
  });
  const locate = (at: string, draft: Draft): string => {
    const [list, index] = at.split('.');
    if (list !== 'custom_field_values') return at;
    // Without an index it is one that was not sent.
    const fieldId = bodyOf(draft).custom_field_values?.[Number(index)]?.field_id;
    const missing = asked.find((field) => field.required_on_creation && valueIn(field, draft) === undefined);
    return nameOf(fieldId ?? missing?.id);
  };
  return (
    <EditDialog<Draft, { incident: Incident }>
      title="Declare an incident"
      label="Declare"
      keptAs={keptAs}
      initial={{ ...EMPTY, service }}
      request={(draft) => {
        const body = bodyOf(draft);
        return { path: '/incidents', key: key.of(JSON.stringify(body)), body };
      }}
      locate={locate}
      onDone={({ incident }) => goTo(incident.human_id)}
      onClose={onClose}
    >
      {(bind, draft) => (
        <>
          <Input label="What is happening?" maxLength={255} placeholder="Checkout answers slowly" {...bind('title')} />
          <SimilarIncidents title={draft.title} service={serviceOf(draft)} onChosen={goTo} />
          <Select
            label="Severity"
            options={choices(severities, 'key', 'label')}
            {...bind('severity')}
            value={severityOf(draft)}
          />
          <ServiceInput service={bind('service')} other={bind('other')} />
          {asked.map((field) => (
            <FieldInput
              key={field.id}
              field={field}
              value={valueIn(field, draft)}
              onValue={(value) => bind('values').onValue({ ...draft.values, [field.id]: value ?? null })}
            />
          ))}
          <Channel bind={bind} draft={draft} />
          <Restriction bind={bind} draft={draft} isRestricted={isRestricted(draft)} />
          <TeamAndLead
            service={draft.service}
            team={bind('team')}
            lead={{ ...bind('lead'), value: draft.lead ?? suggested }}
            onSuggested={setSuggested}
          />
        </>
      )}
    </EditDialog>
  );
}

/** Goes to an incident; what was written is not kept. */
function useLeave(keptAs: string, onClose: () => void): (reference: string) => void {
  const [, keep] = useDraft<Draft>(keptAs);
  const navigate = useNavigate();
  return (reference) => {
    keep(undefined);
    onClose();
    void navigate({ to: '/incidents/$id', params: { id: reference } });
  };
}

function Channel({ bind, draft }: { bind: Bind<Draft>; draft: Draft }) {
  const workspace = useMe().data?.workspace;
  return (
    <>
      {(workspace?.short_title_required === true || draft.hasChannel) && <ShortTitle {...bind('shortTitle')} />}
      {workspace?.chat === true && (
        <Check label="Create a channel in the chat" {...bind('hasChannel')} name="create_slack_channel" />
      )}
    </>
  );
}

function Restriction({ bind, draft, isRestricted }: { bind: Bind<Draft>; draft: Draft; isRestricted: boolean }) {
  const { canSeeRestricted } = useAccess();
  return (
    <>
      {canSeeRestricted && (
        <Check
          label="Restricted"
          hint="Only you, its lead and responders, those you choose, and the owners of the workspace will see it."
          {...bind('restricted')}
          value={isRestricted}
        />
      )}
      {isRestricted && (
        <ViewersInput value={draft.viewers ?? NOBODY} stored={NOBODY} onValue={bind('viewers').onValue} />
      )}
    </>
  );
}

/** What binds a control to a property of the draft. */
interface Bound {
  value: string;
  onValue: (value: string) => void;
}

function ServiceInput({ service, other }: { service: Bound; other: Bound }) {
  const { data: services = [] } = useServices();
  return (
    <>
      <Select
        label="Service"
        hint="Its team becomes the team of the incident."
        options={[NOT_YET, ...choices(services, 'slug', 'name'), [OTHER, 'Not in the catalog…']]}
        {...service}
        name={service.value === OTHER ? undefined : 'service'}
      />
      {service.value === OTHER && (
        <Input label="Service that is not in the catalog" maxLength={128} {...other} name="service" ref={focusOnce} />
      )}
    </>
  );
}

function TeamAndLead({
  service,
  team,
  lead,
  onSuggested,
}: {
  service: string;
  team: Bound;
  lead: Bound;
  onSuggested: (user: string) => void;
}) {
  const { data: teams = [] } = useTeams();
  const { data: services = [] } = useServices();
  const responders = useResponders();
  const owner = services.find(({ slug }) => slug === service)?.owner_team_id;
  const { setting, person } = useOnCallLead(team.value === '' ? owner : Number(team.value));
  const suggested = setting === 'suggest' && person !== undefined ? String(person.user_id) : '';
  useEffect(() => onSuggested(suggested), [onSuggested, suggested]);
  const isSet = setting === 'set' && person !== undefined;
  const options = choices(responders, 'id', 'name');
  return (
    <>
      {person !== undefined && (
        <p className={ui.hint} role="status">
          {isSet && lead.value === '' ? `${person.name} is on call and will lead.` : `${person.name} is on call.`}
        </p>
      )}
      <details open={suggested !== '' || undefined}>
        <summary className={ui.label}>Team and lead</summary>
        <div className={ui.pair}>
          <Select
            label="Team"
            options={[['', 'That of the service'], ...choices(teams, 'id', 'name')]}
            {...team}
            name="team_id"
          />
          <Select
            label="Lead"
            options={[
              ['', isSet ? 'Who is on call' : 'Nobody yet'],
              ...withStored(options, [suggested].filter(Boolean), () => person?.name ?? ''),
            ]}
            {...lead}
            name="incident_manager"
          />
        </div>
      </details>
    </>
  );
}

function focusOnce(node: HTMLInputElement | null): void {
  node?.focus();
}

const serviceOf = ({ service, other }: Draft): string => (service === OTHER ? other : service);

const valueIn = ({ id, default_value: initial }: CustomField, { values }: Draft): unknown =>
  id in values ? (values[id] ?? undefined) : initial;

/** What the API takes: a field without a value gets the default of the workspace unless it is null. */
function valueOf(field: CustomField, draft: Draft) {
  const value = valueIn(field, draft);
  if (value !== undefined) return [{ field_id: field.id, value }];
  return field.default_value === undefined ? [] : [{ field_id: field.id, value: null }];
}

import type { Destination, NewDestination } from '@tocsin/sdk';
import type { Write } from '../api/client.ts';
import { useAccess, usePeople } from '../api/hooks.ts';
import { type Bind, EditDialog } from '../resources/edit-dialog.tsx';
import { Check, Checks, Input, type Options, Select, TextArea, withStored } from '../ui/fields.tsx';
import ui from '../ui/ui.module.css';
import { type Chosen, chosenOf, describeChange, FilterFields, filtersOf, useFilters } from './destination-filters.tsx';
import { addressOf, KIND_OPTIONS, kindOf } from './destination-kinds.ts';
import { headersOf } from './headers.ts';

export const DESTINATIONS = '/settings/destinations';

/** What somebody types; secrets begin empty, and an empty one of a stored destination changes nothing. */
interface Draft {
  kind: string;
  name: string;
  url: string;
  credential: string;
  recipients: string[];
  /** The only recipient of a kind that has one. */
  channel: string;
  headers: string;
  hasNoHeaders: boolean;
  template: string;
  include_restricted: boolean;
  filters: Chosen;
}

const NEW: Draft = {
  ...{
    kind: 'slack',
    name: '',
    url: '',
    credential: '',
    recipients: [],
    channel: '',
    headers: '',
    hasNoHeaders: false,
    template: '',
  },
  ...{ include_restricted: false, filters: chosenOf({}) },
};

const draftOf = (destination: Destination): Draft => {
  const { kind, name, recipients, template, include_restricted, filters } = destination;
  return {
    ...NEW,
    kind,
    name,
    recipients,
    channel: recipients[0] ?? '',
    template: template ?? '',
    include_restricted,
    filters: chosenOf(filters),
  };
};

/** What is saved: only what the kind has, and no secret that was left empty. */
function settingsOf(draft: Draft): Omit<NewDestination, 'kind'> {
  const { name, url, credential, recipients, channel, headers, hasNoHeaders, template, include_restricted, filters } =
    draft;
  const kind = kindOf(draft.kind);
  return {
    ...{ name, include_restricted, filters: filtersOf(filters) },
    ...(kind.url !== undefined && url.trim() !== '' && { url: url.trim() }),
    ...(kind.credential !== undefined && credential.trim() !== '' && { credential: credential.trim() }),
    ...(kind.hasRecipients && { recipients }),
    ...(kind.recipient !== undefined && { recipients: [channel.trim()] }),
    ...(kind.headers !== undefined && (headers.trim() !== '' || hasNoHeaders) && { headers: headersOf(headers) }),
    ...(kind.template !== undefined && { template: template.trim() === '' ? null : template }),
  };
}

function requestOf(draft: Draft, destination: Destination | undefined): Write {
  const settings = settingsOf(draft);
  if (destination === undefined) return { path: DESTINATIONS, body: { kind: draft.kind, ...settings } };
  const { id, revision } = destination;
  return { method: 'PATCH', path: `${DESTINATIONS}/${id}`, revision, shown: destination, body: settings };
}

/** Creates a destination, or changes one. */
export function DestinationDialog({
  destination,
  onClose,
}: {
  destination: Destination | undefined;
  onClose: () => void;
}) {
  const { seesAllRestricted } = useAccess();
  const filters = useFilters();
  const initial = destination === undefined ? NEW : draftOf(destination);
  return (
    <EditDialog<Draft, unknown>
      title={destination === undefined ? 'New destination' : `Edit ${destination.name}`}
      label={destination === undefined ? 'Create' : 'Save'}
      initial={initial}
      request={(draft) => requestOf(draft, destination)}
      refreshes={[DESTINATIONS]}
      describe={describeChange(filters)}
      onClose={onClose}
    >
      {(bind, draft) => (
        <>
          {destination === undefined ? (
            <Select label="Kind" hint={kindOf(draft.kind).about} options={KIND_OPTIONS} {...bind('kind')} />
          ) : (
            <p className={ui.muted}>{addressOf(destination)}</p>
          )}
          <Input label="Name" placeholder="Incidents of our team" {...bind('name')} />
          <AddressFields bind={bind} draft={draft} destination={destination} />
          <FilterFields
            filters={filters}
            chosen={draft.filters}
            stored={initial.filters}
            onChosen={bind('filters').onValue}
          />
          <TemplateField bind={bind} draft={draft} />
          {seesAllRestricted && (
            <Check
              label="Also send restricted incidents: whoever reads the messages sees them."
              {...bind('include_restricted')}
            />
          )}
        </>
      )}
    </EditDialog>
  );
}

interface FieldsProps {
  bind: Bind<Draft>;
  draft: Draft;
  destination: Destination | undefined;
}

/** What a kind needs to reach its receiver. */
function AddressFields({ bind, draft, destination }: FieldsProps) {
  const { url, credential, headers, hasRecipients, recipient } = kindOf(draft.kind);
  const { header_names: names = [], has_credential: hasCredential = false } = destination ?? {};
  /** @param stored says what a stored destination has */
  const hintOf = (empty: string | undefined, stored: string) =>
    destination === undefined ? empty : `${stored} Empty: unchanged.`;
  return (
    <>
      {hasRecipients && <Recipients bind={bind} stored={destination?.recipients ?? []} />}
      {recipient && (
        <Input label={recipient.label} placeholder={recipient.placeholder} spellCheck={false} {...bind('channel')} />
      )}
      {credential && (
        <Input
          label={credential.label}
          hint={hintOf(credential.empty, hasCredential ? 'It has one, which is not shown.' : 'It has none.')}
          spellCheck={false}
          {...bind('credential')}
        />
      )}
      {url && (
        <Input
          label={url.label}
          type="url"
          placeholder={destination === undefined ? url.placeholder : undefined}
          hint={hintOf(url.empty, `It begins with ${destination?.url}; the other part is not shown.`)}
          {...bind('url')}
        />
      )}
      {headers && (
        <TextArea
          label={headers.label}
          placeholder={headers.placeholder}
          hint={hintOf(headers.empty, names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`)}
          spellCheck={false}
          {...bind('headers')}
        />
      )}
      {headers && names.length > 0 && draft.headers.trim() === '' && (
        <Check label="Remove its headers" {...bind('hasNoHeaders')} />
      )}
    </>
  );
}

/** The active people of the workspace, by their email addresses. */
function Recipients({ bind, stored }: { bind: Bind<Draft>; stored: readonly string[] }) {
  const { data: people = [] } = usePeople();
  /** As it is stored: the case of letters does not matter. */
  const storedAs = (email: string) => stored.find((each) => each.toLowerCase() === email.toLowerCase()) ?? email;
  const options: Options = people
    .filter(({ active }) => active)
    .map(({ name, email }) => [storedAs(email), `${name}, ${email}`]);
  return (
    <div className={ui.field}>
      <span className={ui.label} aria-hidden="true">
        Who gets the messages?
      </span>
      <Checks
        bare
        label="Who gets the messages?"
        className={ui.choices}
        options={withStored(options, stored, String)}
        {...bind('recipients')}
      />
    </div>
  );
}

const PLACEHOLDERS =
  'link, reference, url, title, what, severity, status, service, type, occurred_at, workspace, by, id';

function TemplateField({ bind, draft }: Omit<FieldsProps, 'destination'>) {
  const { template } = kindOf(draft.kind);
  if (template === undefined) return null;
  return (
    <TextArea
      label={template.label}
      placeholder={template.placeholder}
      hint={`${template.empty} Words in {{ }} are replaced: ${PLACEHOLDERS}.`}
      spellCheck={false}
      {...bind('template')}
    />
  );
}

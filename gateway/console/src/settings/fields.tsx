import type { CustomField } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { write } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { refresh, useAccess, useFields } from '../api/hooks.ts';
import { FieldInput } from '../incident/field-input.tsx';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { splitTexts } from '../ui/format.ts';
import { NAME, ResourceList } from '../resources/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { Button } from '../ui/button.tsx';
import { DoneDialog } from '../ui/dialogs.tsx';
import { Check, Input, Select, TextArea } from '../ui/fields.tsx';
import { Empty } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { optionsOf } from '../incidents/incident-filters.ts';
import { type FieldUse, useFieldUses } from './field-uses.ts';
import { movedOrders } from './moved-orders.ts';

const TYPES: Readonly<Record<CustomField['field_type'], string>> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  select: 'One of a list',
  multi_select: 'Several of a list',
  date: 'Date',
  time: 'Time',
  datetime: 'Date and time',
  monetary: 'Money',
  json: 'JSON',
};

const PATH = '/custom-fields';

export function FieldsPage() {
  const { canManage } = useAccess();
  const usesOf = useFieldUses();
  return (
    <ResourceList<CustomField>
      title="Custom fields"
      guide="custom-fields"
      lead="What an incident has in your workspace besides the common properties. Lists filter by them, and post-mortems show them."
      path={PATH}
      property="fields"
      create="New field"
      canChange={canManage}
      controls={<Preview />}
      more={(field) => field.archived_at === undefined && <Move field={field} />}
      editor={(field, onClose) => <FieldDialog field={field} onClose={onClose} />}
      empty={
        <Empty title="No custom field so far" icon="fields">
          Root cause, affected orders, a customer: what your reviews ask for.
        </Empty>
      }
      columns={[
        NAME,
        [
          'Type',
          (field) => (
            <Named
              name={TYPES[field.field_type]}
              about={optionsOf(field)
                .map(([, label]) => label)
                .join(', ')}
            />
          ),
        ],
        [
          'Asked for',
          ({ required_on_creation: isRequired, show_on_creation: isShown }) => (
            <Badge>{isRequired ? 'Required at the start' : isShown ? 'At the start' : 'Later'}</Badge>
          ),
        ],
        ['Where used', (field) => <Uses uses={usesOf(field)} />],
      ]}
    />
  );
}

/** Where a field is used; what has an address is a link. */
const Uses = ({ uses }: { uses: readonly FieldUse[] }) => (
  <ul>
    {uses.map(({ text, search }) => (
      <li key={text}>
        {search === undefined ? (
          <span className={ui.muted}>{text}</span>
        ) : (
          <Link to="/" search={search}>
            {text}
          </Link>
        )}
      </li>
    ))}
  </ul>
);

/** Shows what the form asks for that declares an incident. */
function Preview() {
  const { data: fields = [] } = useFields();
  const [isOpen, setOpen] = useState(false);
  const [values, setValues] = useState<Readonly<Record<number, unknown>>>({});
  const asked = fields.filter(({ show_on_creation: isAsked }) => isAsked);
  if (asked.length === 0) return null;
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Preview
      </Button>
      {isOpen && (
        <DoneDialog title="What a new incident is asked" onClose={() => setOpen(false)}>
          <p>After the title, the severity and the service. Nothing is saved here.</p>
          {asked.map((field) => (
            <FieldInput
              key={field.id}
              field={field}
              value={field.id in values ? (values[field.id] ?? undefined) : field.default_value}
              onValue={(value) => setValues({ ...values, [field.id]: value ?? null })}
            />
          ))}
        </DoneDialog>
      )}
    </>
  );
}

/** Moves a field to the place of the one before or after it, in lists and forms. */
function Move({ field }: { field: CustomField }) {
  const { data: fields = [] } = useFields();
  const [isBusy, setBusy] = useState(false);
  const from = fields.findIndex(({ id }) => id === field.id);
  const move = async (by: -1 | 1, button: HTMLElement) => {
    setBusy(true);
    try {
      for (const { id, revision, order } of movedOrders(fields, from, by))
        await write({ method: 'PATCH', path: `${PATH}/${id}`, revision, body: { sort_order: order } });
    } catch (error) {
      sayError(error);
    }
    await refresh(PATH);
    setBusy(false);
    // The row goes to another place of the page, and the focus with it.
    window.setTimeout(() => button.focus());
  };
  const button = (by: -1 | 1, label: string) => (
    <Button
      kind="quiet"
      small
      aria-label={label}
      aria-disabled={isBusy || fields[from + by] === undefined}
      onClick={({ currentTarget }) => !isBusy && fields[from + by] && void move(by, currentTarget)}
    >
      {by === -1 ? '↑' : '↓'}
    </Button>
  );
  return from === -1 ? null : (
    <>
      {button(-1, 'Move up')}
      {button(1, 'Move down')}
    </>
  );
}

const hasOptions = (type: string) => type === 'select' || type === 'multi_select';

function FieldDialog({ field, onClose }: { field: CustomField | undefined; onClose: () => void }) {
  const storedOptions = field === undefined ? [] : optionsOf(field);
  return (
    <EditDialog
      title={field === undefined ? 'New field' : `Edit ${field.name}`}
      initial={{
        name: field?.name ?? '',
        field_type: field?.field_type ?? 'string',
        options: storedOptions.map(([value]) => value).join('\n'),
        currency: field?.config?.currency ?? 'USD',
        show_on_creation: field?.show_on_creation ?? true,
        required_on_creation: field?.required_on_creation ?? false,
      }}
      request={({ name, field_type: type, options, currency, show_on_creation, required_on_creation }) => {
        const labels = new Map(storedOptions);
        const config = hasOptions(type)
          ? {
              config: {
                ...field?.config,
                options: splitTexts(options, '\n').map((value) => ({ value, label: labels.get(value) ?? value })),
              },
            }
          : type === 'monetary' && field === undefined
            ? { config: { currency } }
            : {};
        return {
          ...saveTo(PATH, field),
          body: {
            ...{ name, show_on_creation, ...config },
            // It goes with the other one.
            required_on_creation: show_on_creation && required_on_creation,
            ...(field === undefined && { field_type: type }),
          },
        };
      }}
      onClose={onClose}
    >
      {(bind, draft) => (
        <>
          <Input label="Name" {...bind('name')} />
          {field === undefined && (
            <Select
              label="Type"
              hint="It cannot be changed later."
              options={Object.entries(TYPES)}
              {...bind('field_type')}
            />
          )}
          {hasOptions(draft.field_type) && (
            <TextArea label="Options, one in each line" rows={4} {...bind('options')} name="config" />
          )}
          {draft.field_type === 'monetary' && field === undefined && (
            <Input
              label="Currency"
              name="config"
              maxLength={3}
              value={draft.currency}
              onValue={(text) => bind('currency').onValue(text.toUpperCase())}
            />
          )}
          <Check label="Ask for it when an incident is created" {...bind('show_on_creation')} />
          <Check
            label="An incident cannot be created without it"
            disabled={!draft.show_on_creation}
            {...bind('required_on_creation')}
            value={draft.show_on_creation && draft.required_on_creation}
          />
        </>
      )}
    </EditDialog>
  );
}

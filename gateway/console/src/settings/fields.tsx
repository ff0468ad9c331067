import type { CustomField } from '@tocsin/sdk';
import { useAccess } from '../api/hooks.ts';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { splitTexts } from '../ui/format.ts';
import { NAME, ResourceList } from '../resources/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { Check, Input, Select, TextArea } from '../ui/fields.tsx';
import { Empty } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import { optionsOf } from '../incidents/incident-filters.ts';

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

export function FieldsPage() {
  const { canManage } = useAccess();
  return (
    <ResourceList<CustomField>
      title="Custom fields"
      guide="custom-fields"
      lead="What an incident has in your workspace besides the common properties. Lists filter by them."
      path="/custom-fields"
      property="fields"
      create="New field"
      canChange={canManage}
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
      ]}
    />
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
          ...saveTo('/custom-fields', field),
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
